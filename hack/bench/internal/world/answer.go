package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Address is where all Keystones answer: an address of this machine that nothing
// else uses, and the port of their Services.
const Address = "127.86.0.1"

const keystonePort = "5000"

// serveKeystones simulates the API of all Keystones: it is healthy, and accepts every
// password.
func (w *World) serveKeystones(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(Address, keystonePort))
	if err != nil {
		return fmt.Errorf("answer in the place of the Keystones: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}
	w.onClose(server.Close)
	go func() { _ = server.Serve(listener) }()
	return nil
}

func answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.Header().Set("X-Subject-Token", "token-of-the-bench")
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = w.Write([]byte("{}"))
}

// Hosts writes the file that the operator gets as /etc/hosts: the Services of all
// Keystones are at [Address].
func (w *World) Hosts(services []string) (path string, err error) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n")
	for _, service := range services {
		fmt.Fprintf(&b, "%s %s\n", Address, service)
	}
	path = w.file("hosts")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}
