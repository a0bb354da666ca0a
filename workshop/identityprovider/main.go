// Command identityprovider is an OpenID Connect and SAML 2.0 provider for the end-to-end suites.
//
// It serves several realms, each at https://HOST/realms/NAME, over HTTPS only. A file with JSON
// describes their clients and users; passwords are in a folder of their own, which it reads for
// each login. Codes and keys are in memory, so that a restart ends all logins and changes the
// metadata.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/crewjam/saml"
)

type options struct {
	url, listen, realms, passwords, tls string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("identityprovider", flag.ContinueOnError)
	flags.StringVar(&o.url, "url", "", "URL at which clients reach the provider, such as https://login.example.com:8443")
	flags.StringVar(&o.listen, "listen", ":8443", "address to listen on")
	flags.StringVar(&o.realms, "realms", "/etc/identityprovider/realms.json", "file with the realms")
	flags.StringVar(&o.passwords, "passwords", "/etc/identityprovider/passwords", "folder with the passwords that the realms name")
	flags.StringVar(&o.tls, "tls", "/etc/identityprovider/tls", "folder with tls.crt and tls.key")
	err := flags.Parse(args)
	if err == nil && !strings.HasPrefix(o.url, "https://") {
		err = fmt.Errorf("-url: %q does not begin with https://", o.url)
	}
	return o, err
}

// run serves until the context ends.
func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	// For requests and assertions alike: a suite on a busy machine needs more than the 90 seconds of the library.
	saml.MaxIssueDelay = tokenLifetime
	realms, err := loadRealms(o)
	if err != nil {
		return err
	}
	certificate, err := tls.LoadX509KeyPair(o.tls+"/tls.crt", o.tls+"/tls.key")
	if err != nil {
		return fmt.Errorf("-tls: %w", err)
	}
	server := &http.Server{
		Addr: o.listen, Handler: logged(slog.New(slog.NewJSONHandler(os.Stdout, nil)), handler(realms)),
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler serves each realm below its path.
func handler(realms map[string]*realm) http.Handler {
	mux := http.NewServeMux()
	for name, r := range realms {
		path := "/realms/" + name
		mux.Handle(path+"/", http.StripPrefix(path, r.endpoints))
	}
	return mux
}

// logged logs requests without their query, which may have a code.
func logged(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &recorded{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, r)
		log.Info("request", "method", r.Method, "path", r.URL.Path, "status", answer.status)
	})
}

// recorded remembers the status of an answer.
type recorded struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status.
func (r *recorded) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
