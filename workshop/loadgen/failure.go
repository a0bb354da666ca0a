package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// errWrongAnswer reports a response with the right status but the wrong content.
var errWrongAnswer = errors.New("wrong answer")

// statusError reports a response with an unexpected status.
type statusError struct{ status int }

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// classify returns the kind of a failure. A kind is the same for every address
// and port.
func classify(err error) string {
	var (
		status  *statusError
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.Is(err, errWrongAnswer):
		return err.Error()
	case errors.As(err, &dns):
		return "name not resolved"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	return "other"
}
