package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Address is where all services answer: an address of this machine that nothing
// else uses, and the ports of their Services.
const Address = "127.86.0.1"

// serve serves the API of all services at the ports until stop is called.
func serve(ctx context.Context, api http.Handler, ports []string) (stop func() error, err error) {
	server := &http.Server{Handler: api, ReadHeaderTimeout: time.Minute}
	for _, port := range ports {
		var config net.ListenConfig
		listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(Address, port))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("serve in place of the services: %w", err), server.Close())
		}
		go func() { _ = server.Serve(listener) }()
	}
	return server.Close, nil
}
