package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// client sends one request after another to one server and never repeats
// one. The standard library's transport repeats some requests when a server
// closes a connection, which would hide exactly the failures that matter here.
type client struct {
	address   string
	keepAlive bool
	timeout   time.Duration

	conn   *net.TCPConn
	reader *bufio.Reader
	// reused reports whether the last request went over a connection that had
	// carried one before.
	reused bool
	// dialed counts the connections this client has opened.
	dialed int
}

// answer is a response whose body has been read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (c *client) do(ctx context.Context, request *http.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// As HTTP libraries do: a connection that the server has closed in the
	// meantime is not used.
	if c.conn != nil && closedByPeer(c.conn) {
		c.close()
	}
	c.reused = c.conn != nil
	if !c.reused {
		if err := c.dial(ctx); err != nil {
			return answer{}, err
		}
	}
	result, closing, err := c.exchange(ctx, request)
	if err != nil || closing || !c.keepAlive {
		c.close()
	}
	return result, err
}

func (c *client) dial(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return fmt.Errorf("%T is not a TCP connection", conn)
	}
	c.conn, c.reader = tcp, bufio.NewReader(tcp)
	c.dialed++
	return nil
}

func (c *client) exchange(ctx context.Context, request *http.Request) (result answer, closing bool, err error) {
	deadline, _ := ctx.Deadline()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return answer{}, true, err
	}
	request.Close = !c.keepAlive
	if err := request.Write(c.conn); err != nil {
		return answer{}, true, fmt.Errorf("sending: %w", err)
	}
	response, err := http.ReadResponse(c.reader, request)
	if err != nil {
		return answer{}, true, fmt.Errorf("waiting for the response: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, true, fmt.Errorf("reading the response: %w", err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}, response.Close, nil
}

func (c *client) close() {
	if c.conn == nil {
		return
	}
	_ = c.conn.Close()
	c.conn, c.reader = nil, nil
}

// closedByPeer reports whether the other side has ended the connection, without
// taking anything from it.
func closedByPeer(conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN)
		return true
	})
	return closed || err != nil
}
