package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Disturbance is what happens to the operator's requests on their way to the API
// server. Watches are not disturbed.
type Disturbance struct {
	// Refuse answers every n-th request with 429; 0 means
	// none.
	Refuse int64
	// Delay delays each request.
	Delay time.Duration
}

// Disturbed is an address at which the API server answers with a disturbance.
type Disturbed struct {
	// Address is the URL.
	Address string

	refused atomic.Int64
	server  *http.Server
}

// Refused returns how many requests were answered with 429.
func (d *Disturbed) Refused() int { return int(d.refused.Load()) }

// Close closes the address.
func (d *Disturbed) Close() error { return d.server.Close() }

// Disturb starts a proxy between the operator and the API server, as the operator's user.
func (w *World) Disturb(ctx context.Context, by Disturbance) (*Disturbed, error) {
	transport, err := rest.TransportFor(w.user)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(w.user.Host)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(Address, "0"))
	if err != nil {
		return nil, fmt.Errorf("start the proxy in front of the API server: %w", err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// Events of a watch are passed on as they come.
	proxy.Transport, proxy.FlushInterval = transport, -1
	d := &Disturbed{Address: "http://" + listener.Addr().String()}
	d.server = &http.Server{Handler: d.disturb(by, proxy), ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(listener) }()
	return d, nil
}

func (d *Disturbed) disturb(by Disturbance, next http.Handler) http.Handler {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" {
			next.ServeHTTP(w, r)
			return
		}
		if by.Refuse > 0 && requests.Add(1)%by.Refuse == 0 {
			d.refused.Add(1)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests, please try again later", http.StatusTooManyRequests)
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(by.Delay):
		}
		next.ServeHTTP(w, r)
	})
}
