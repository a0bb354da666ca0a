// Command bao is a stand-in for OpenBao in the local cluster: a small secret
// store with the part of OpenBao's API that External Secrets uses, and the
// command line tool to look into it and to break it. It protects nothing beyond
// what a test cluster needs and is part of no chart.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/c5c3/forge/hack/secretstore/internal/auth"
	"github.com/c5c3/forge/hack/secretstore/internal/client"
	"github.com/c5c3/forge/hack/secretstore/internal/command"
	"github.com/c5c3/forge/hack/secretstore/internal/server"
)

// keysFile is where a pod of the store has the Secret openbao-init-keys.
const keysFile = "/openbao/keys/init-output"

func main() {
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

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "server" {
		return serve(ctx, args[1:])
	}
	keys := func() (server.Keys, error) { return server.ReadKeys(keysFile) }
	c, err := client.FromEnvironment(func() (string, error) {
		k, err := keys()
		return k.RootToken, err
	})
	if err != nil {
		return err
	}
	tool := command.Tool{Client: c, Keys: keys, In: os.Stdin, Out: os.Stdout}
	return tool.Run(ctx, args)
}

func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bao server", flag.ContinueOnError)
	listen := flags.String("listen", ":8200", "address to listen on")
	configFile := flags.String("config", "/openbao/config/config.json", "mount, roles and policies")
	tlsDir := flags.String("tls", "/openbao/tls", "folder with tls.crt, tls.key and ca.crt")
	file := flags.String("file", "/openbao/data/secrets.json", "file that keeps the secrets")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := server.ReadConfig(*configFile)
	if err != nil {
		return err
	}
	keys, err := server.ReadKeys(keysFile)
	if err != nil {
		return err
	}
	reviewer, err := auth.InCluster()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	handler, err := server.New(server.Options{Config: config, Keys: keys, File: *file, Reviewer: reviewer, Log: log})
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
