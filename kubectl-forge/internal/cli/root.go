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

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// name is the command that users type.
const name = "kubectl forge"

// app holds what all commands share.
type app struct {
	genericiooptions.IOStreams

	// open returns the session that the flags ask for.
	open func() (*kube.Session, error)
	// interval is the polling interval of commands that follow progress.
	interval time.Duration
}

// Option replaces a dependency in tests.
type Option func(*app)

// WithSession makes all commands use the session, regardless of the flags.
func WithSession(s *kube.Session) Option {
	return func(a *app) { a.open = func() (*kube.Session, error) { return s, nil } }
}

// WithInterval sets the polling interval of commands that follow progress.
func WithInterval(interval time.Duration) Option {
	return func(a *app) { a.interval = interval }
}

// Run runs the command line and returns the exit code of the process.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams, options ...Option) int {
	root := New(streams, options...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	// A command that returns errSaid has already printed its finding.
	var command *exec.ExitError
	if err != nil && !errors.Is(err, errSaid) && !errors.As(err, &command) {
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
	a := &app{IOStreams: streams, interval: time.Second, open: func() (*kube.Session, error) { return kube.Open(flags) }}
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see \"%s --help\"", err, cmd.CommandPath())}
	})
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(
		a.statusCommand(), a.waitCommand(), a.rotateCommand(), a.upgradeCommand(), a.doctorCommand(),
		a.bundleCommand(), a.loginCommand(), a.versionCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	checkArguments(root)
	return root
}

// checkArguments makes every command report a wrong number of arguments as a usage error.
func checkArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{fmt.Errorf("%w; see \"%s --help\"", err, cmd.CommandPath())}
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}

// exclusive is an error if the user has set both flags.
func exclusive(cmd *cobra.Command, one, other string) error {
	if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
		return usageError{fmt.Errorf("--%s and --%s cannot be combined: specify one of them", one, other)}
	}
	return nil
}

// style is that of the standard output.
func (a *app) style() show.Style { return show.StyleOf(a.Out) }

// progress returns the options for showing progress.
func (a *app) progress(timeout time.Duration) follow.Options {
	style := a.style()
	return follow.Options{
		Out: a.Out, Style: style, Live: style.Terminal, Interval: a.interval, Timeout: timeout, Temporary: kube.Temporary,
	}
}

// completeTargets offers the ControlPlanes and services of the namespace.
func (a *app) completeTargets(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	session, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, all, err := kube.Candidates(cmd.Context(), session)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	offers := make([]string, 0, len(all))
	for _, ref := range all {
		offers = append(offers, ref.Arg())
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// target opens a session and returns the single object that the arguments name, which has to
// be of one of the accepted kinds if there are any.
func (a *app) target(ctx context.Context, args []string, accepted ...string) (*kube.Session, inventory.Ref, error) {
	session, err := a.open()
	if err != nil {
		return nil, inventory.Ref{}, err
	}
	ref, err := kube.One(ctx, session, args, accepted...)
	return session, ref, err
}

// outputFlag adds the flag for the format and returns a pointer to its value.
func outputFlag(cmd *cobra.Command) *string {
	format := cmd.Flags().StringP("output", "o", show.Formats[0], "Format: table, json or yaml.")
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return show.Formats, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("output", complete); err != nil {
		panic(err) // The flag is there: it was added above.
	}
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if err := show.CheckFormat(*format); err != nil {
			return usageError{err}
		}
		return nil
	}
	return format
}

// timeoutFlag adds the flag for the longest wait.
func timeoutFlag(cmd *cobra.Command, usual time.Duration) *time.Duration {
	return cmd.Flags().Duration("timeout", usual, "Maximum time to wait, such as 90s or 10m; 0 waits forever.")
}
