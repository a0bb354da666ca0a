// Package cli is the command line: it parses flags, delegates to the packages that
// read the cluster and decide, and writes their results.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
)

// name is the command that users type.
const name = "kubectl forge"

// Run runs the command line and returns the exit code of the process.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams, options ...Option) int {
	root := New(streams, options...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	// A command that was run or that returns errSaid has already printed its finding.
	if _, command := errors.AsType[*exec.ExitError](err); err != nil && !errors.Is(err, errSaid) && !command {
		fmt.Fprintln(streams.ErrOut, "error:", err)
	}
	return codeOf(err)
}

// New returns the root of the commands.
func New(streams genericiooptions.IOStreams, options ...Option) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	// The discovery cache is not worth a flag: nothing is kept between two calls,
	// and its default differs from machine to machine.
	flags.CacheDir = nil
	a := &app{
		IOStreams: streams, interval: time.Second, forward: reach.Through,
		open: func() (*kube.Session, error) { return kube.Open(flags) },
	}
	for _, option := range options {
		option(a)
	}
	root := &cobra.Command{
		Use:   "kubectl-forge",
		Short: "Inspect and operate ControlPlanes and the services in them",
		Long: "Inspect and operate ControlPlanes and OpenStack services, such as Keystone.\n\n" +
			"A command that takes TARGET accepts " + inventory.TargetForms() + ".\nYou can omit it when the namespace has only one.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: name},
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs, PersistentPreRunE: checkFlags,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(wrongUsage)
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		a.statusCommand(), a.waitCommand(), a.rotateCommand(), a.upgradeCommand(), a.backupCommand(), a.restoreCommand(), a.verifyCommand(),
		a.pauseCommand(), a.resumeCommand(), a.doctorCommand(), a.bundleCommand(), a.loginCommand(), a.versionCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	checkArguments(root)
	return root
}

func wrongUsage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return usageError("%w; see \"%s --help\"", err, cmd.CommandPath())
}

// checkArguments makes every command report a wrong number of arguments as a usage error.
func checkArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return wrongUsage(cmd, check(cmd, args)) }
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}
