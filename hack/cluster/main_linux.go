package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/c5c3/forge/hack/cluster/internal/cluster"
	"github.com/c5c3/forge/hack/cluster/internal/node"
	"github.com/c5c3/forge/hack/cluster/internal/preflight"
	"github.com/c5c3/forge/hack/cluster/internal/progress"
)

const usage = `forge-cluster runs a real Kubernetes cluster in namespaces of this machine.

Usage: forge-cluster [-checkout DIR] COMMAND

  up               bring the cluster up, or repair it
  down             stop it and remove everything it created
  status           describe it; fails unless it is healthy
  load ARCHIVE...  import image archives into it
  exec COMMAND...  run a command inside its node
  preflight        check whether this machine can run it, changing nothing
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		progress.Explain(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the command line, including the hidden subcommands that the program starts
// itself with.
func run(args []string) error {
	// The program starts itself again under these names; see package node and
	// package preflight.
	if len(args) == 2 {
		switch args[0] {
		case node.InitCommand:
			return node.RunInit(args[1])
		case preflight.ProbeCommand:
			return preflight.Probe(args[1])
		}
	}
	flags := flag.NewFlagSet("forge-cluster", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	checkout := flags.String("checkout", ".", "folder of the checkout")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	c, err := cluster.New(*checkout, progress.NewReporter(os.Stdout))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return dispatch(ctx, c, flags.Args())
}

// dispatch runs a subcommand.
func dispatch(ctx context.Context, c *cluster.Cluster, args []string) error {
	if len(args) == 0 {
		return errors.New("no command given: see forge-cluster -help")
	}
	command, rest := args[0], args[1:]
	takesArguments := command == "load" || command == "exec"
	if takesArguments != (len(rest) > 0) {
		return fmt.Errorf("wrong number of arguments for %q: see forge-cluster -help", command)
	}
	switch command {
	case "up":
		return c.Up(ctx)
	case "down":
		return c.Down(ctx)
	case "status":
		return c.Status(ctx, os.Stdout)
	case "load":
		return c.Load(ctx, rest)
	case "exec":
		return c.Exec(ctx, rest)
	case "preflight":
		return c.Preflight(ctx)
	}
	return fmt.Errorf("unknown command %q: see forge-cluster -help", command)
}
