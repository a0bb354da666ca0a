// Package program is the whole program, so that the tests of scripts can be it, too.
package program

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

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
	"github.com/c5c3/forge/workshop/secretstore/internal/client"
	"github.com/c5c3/forge/workshop/secretstore/internal/command"
	"github.com/c5c3/forge/workshop/secretstore/internal/server"
	"github.com/c5c3/forge/workshop/secretstore/internal/shell"
)

// dataDir is where the pod of the store mounts its volume.
const dataDir = "/openbao/data"

// Main runs the tool under whose name the program is called, and returns its exit code:
// the image has links for the tools that scripts expect in addition to "bao".
func Main(args []string) (code int) {
	switch filepath.Base(args[0]) {
	case "env":
		return shell.Env(args[1:])
	case "sh":
		return shell.Run(args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, args[1:])
	switch {
	case err == nil:
		return 0
	case errors.Is(err, command.ErrSealed):
		return 2
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
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
