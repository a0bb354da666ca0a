// Command bao is a stand-in for OpenBao in the local cluster: a small secret
// store with the part of OpenBao's API that External Secrets uses, and the
// command line tool to inspect it and to inject faults. It protects nothing beyond
// what a test cluster needs and is part of no chart.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/c5c3/forge/hack/secretstore/internal/auth"
	"github.com/c5c3/forge/hack/secretstore/internal/client"
	"github.com/c5c3/forge/hack/secretstore/internal/command"
	"github.com/c5c3/forge/hack/secretstore/internal/server"
	"github.com/c5c3/forge/hack/secretstore/internal/shell"
)

// dataDir is where the pod of the store mounts its volume.
const dataDir = "/openbao/data"

// main runs the tool under whose name it is called: the image has links for the tools
// that scripts expect in addition to "bao".
func main() {
	switch filepath.Base(os.Args[0]) {
	case "env":
		os.Exit(shell.Env(os.Args[1:]))
	case "sh":
		os.Exit(shell.Run(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
		return
	case errors.Is(err, command.ErrSealed):
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// run runs the server, or a command as a client of it.
func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "server" {
		return serve(ctx, args[1:])
	}
	keys := func() (server.Keys, error) { return server.ReadKeys(dataDir) }
	c, err := client.FromEnvironment(func() (string, error) {
		if token := cmp.Or(os.Getenv("BAO_TOKEN"), os.Getenv("VAULT_TOKEN")); token != "" {
			return token, nil
		}
		// Anyone who works in the pod is the administrator.
		k, err := keys()
		return k.RootToken, err
	})
	if err != nil {
		return err
	}
	tool := command.Tool{Client: c, Keys: keys, In: os.Stdin, Out: os.Stdout}
	return tool.Run(ctx, args)
}

// serve runs the server until the context ends.
func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bao server", flag.ContinueOnError)
	listen := flags.String("listen", ":8200", "address to listen on")
	tlsDir := flags.String("tls", "/openbao/tls", "folder with tls.crt, tls.key and ca.crt")
	dir := flags.String("data", dataDir, "folder that keeps what is stored")
	if err := flags.Parse(args); err != nil {
		return err
	}
	reviewer, err := auth.InCluster()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	handler, err := server.New(server.Options{Dir: *dir, Reviewer: reviewer, Log: log})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		return fmt.Errorf("serve on %s: %w", *listen, err)
	}
	log.Info("the stand-in for OpenBao is serving", "address", *listen)
	return server.Serve(ctx, listener, handler, server.Files(*tlsDir))
}
