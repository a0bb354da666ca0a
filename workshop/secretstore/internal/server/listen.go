package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Files returns the TLS configuration of a server whose certificate, key and
// certificate authority are in a folder, under the names of a Kubernetes TLS
// Secret. With [tls.RequireAndVerifyClientCert] clients have to show a certificate of the same
// authority. The files are read for each connection, so that renewed ones need no restart.
func Files(dir string, clients tls.ClientAuthType) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return load(dir, clients) },
	}
}

func load(dir string, clients tls.ClientAuthType) (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("load the server's certificate: %w", err)
	}
	authorities, err := poolOf(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("load the certificate authority: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   clients,
		ClientCAs:    authorities,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
}

func poolOf(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, errors.New("the file holds no certificate")
	}
	return pool, nil
}

// Serve serves the connections of a listener until the context ends, and closes it.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, config *tls.Config) error {
	server := &http.Server{
		Handler:           handler,
		TLSConfig:         config,
		ReadHeaderTimeout: 10 * time.Second,
		// Every connection of a probe would be reported as a failed handshake.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(limit)
	})
	defer stop()
	err := server.ServeTLS(listener, "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
}
