// Command bao is a stand-in for OpenBao in the local cluster: a small secret
// store with the part of OpenBao's API that External Secrets uses, and the
// command line tool to inspect it and to inject faults. It protects nothing beyond
// what a test cluster needs and is part of no chart.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/c5c3/forge/workshop/secretstore/internal/command"
	"github.com/c5c3/forge/workshop/secretstore/internal/server"
	"github.com/c5c3/forge/workshop/secretstore/internal/shell"
)

// dataDir is where the pod of the store mounts its volume.
const dataDir = "/openbao/data"

func main() { os.Exit(run(os.Args)) }

// run runs the tool under whose name the program is called, and returns its exit code:
// the image has links for the tools that scripts expect in addition to "bao".
func run(args []string) int {
	switch filepath.Base(args[0]) {
	case "env":
		return shell.Env(args[1:])
	case "sh":
		return shell.Run(args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bao := ask
	if len(args) > 1 && args[1] == "server" {
		bao = serve
		args = args[1:]
	}
	err := bao(ctx, args[1:])
	switch {
	case err == nil:
		return 0
	case errors.Is(err, command.ErrSealed):
		return 2
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}

// ask runs a command as a client of the server, which the variables of OpenBao's own tool name.
func ask(ctx context.Context, args []string) error {
	keys, err := server.ReadKeys(dataDir)
	if err != nil {
		return err
	}
	tool, err := command.New(keys, os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	return tool.Run(ctx, args)
}

// serve runs the server until the context ends.
func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bao server", flag.ContinueOnError)
	listen := flags.String("listen", ":8200", "address to listen on, for clients with a certificate")
	programs := flags.String("listen-for-programs", ":8202", "address to listen on, for clients without one, such as Barbican")
	tlsDir := flags.String("tls", "/openbao/tls", "folder with tls.crt, tls.key and ca.crt")
	dir := flags.String("data", dataDir, "folder that keeps what is stored")
	if err := flags.Parse(args); err != nil {
		return err
	}
	reviewer, err := server.InCluster()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	handler, err := server.New(server.Options{Dir: *dir, Reviewer: reviewer, Log: log})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 2)
	for address, clients := range map[string]tls.ClientAuthType{
		*listen: tls.RequireAndVerifyClientCert, *programs: tls.NoClientCert,
	} {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("serve on %s: %w", address, err)
		}
		log.Info("the stand-in for OpenBao is serving", "address", address)
		go func() { done <- server.Serve(ctx, listener, handler, server.Files(*tlsDir, clients)) }()
	}
	err = <-done
	stop()
	return errors.Join(err, <-done)
}
