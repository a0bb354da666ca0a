package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Address is where all Keystones answer: an address of this machine that nothing
// else uses, and the port of their Services.
const Address = "127.86.0.1"

const keystonePort = "5000"

// serveKeystones serves the API of all Keystones until stop is called.
func serveKeystones(ctx context.Context, api http.Handler) (stop func() error, err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(Address, keystonePort))
	if err != nil {
		return nil, fmt.Errorf("serve in place of the Keystones: %w", err)
	}
	server := &http.Server{Handler: api, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return server.Close, nil
}
