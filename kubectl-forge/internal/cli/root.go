// Package cli is the command line: it parses flags, delegates to the packages that
// read the cluster and decide, and writes their results.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// name is the command that users type.
const name = "kubectl forge"

// app holds what all commands share.
type app struct {
	genericiooptions.IOStreams

	// open returns the session that the flags ask for.
	open func() (*kube.Session, error)
	// forward forwards ports until the lifetime ends.
	forward func(lifetime context.Context, s *kube.Session) reach.Forward
	// interval is the polling interval of commands that follow progress.
	interval time.Duration
}

// Option replaces a dependency in tests.
type Option func(*app)

// WithSession makes all commands use the session, regardless of the flags.
func WithSession(s *kube.Session) Option {
	return func(a *app) { a.open = func() (*kube.Session, error) { return s, nil } }
}

// WithForward makes all commands forward ports with the function.
func WithForward(forward reach.Forward) Option {
	return func(a *app) { a.forward = func(context.Context, *kube.Session) reach.Forward { return forward } }
}

// WithInterval sets the polling interval of commands that follow progress.
func WithInterval(interval time.Duration) Option {
	return func(a *app) { a.interval = interval }
}

// Exit codes of all commands.
const (
	// CodeOK: success; what the user asked about is ready.
	CodeOK = 0
	// CodeError: a failure that no other code covers.
	CodeError = 1
	// CodeUsage: the command line is invalid.
	CodeUsage = 2
	// CodeNotReady: something is not ready, was refused, or a check has failed.
	CodeNotReady = 3
	// CodeTimeout: the result did not arrive in time.
	CodeTimeout = 4
	// CodeMissingRight: the user lacks a permission, which the message names.
	CodeMissingRight = 5
	// CodeInterrupted: the user interrupted the command.
	CodeInterrupted = 130
)

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e codedError) Unwrap() error { return e.error }

// usageError is an error in the command line.
func usageError(format string, args ...any) error {
	return codedError{fmt.Errorf(format, args...), CodeUsage}
}

// notReady reports that something is not ready, was refused or has failed.
func notReady(err error) error { return codedError{err, CodeNotReady} }

// errSaid stands for a finding that has already been printed.
var errSaid = notReady(errors.New("not ready"))

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	coded, isCoded := errors.AsType[codedError](err)
	command, isCommand := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return CodeOK
	case isCoded:
		return coded.code
	case kube.IsMissingRight(err):
		return CodeMissingRight
	case errors.Is(err, follow.ErrTimeout):
		return CodeTimeout
	case isCommand:
		return command.ExitCode()
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	}
	return CodeError
}

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
		a.statusCommand(), a.waitCommand(), a.rotateCommand(), a.upgradeCommand(), a.verifyCommand(),
		a.doctorCommand(), a.bundleCommand(), a.loginCommand(), a.versionCommand(),
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

// outputFlag adds the flag for the format and returns a pointer to its value.
func outputFlag(cmd *cobra.Command) *string {
	format := cmd.Flags().StringP("output", "o", show.Formats[0], "Format: table, json or yaml.")
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(show.Formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // The flag is there: it was added above.
	}
	return format
}

const (
	// defaultTimeout is the longest wait of a command that has no reason for another.
	defaultTimeout = 10 * time.Minute
	timeoutUsage   = "Maximum time to wait, such as 90s or 10m; 0 waits forever."
)

// checkFlags checks the values of the flags that several commands have.
func checkFlags(cmd *cobra.Command, _ []string) error {
	if format, err := cmd.Flags().GetString("output"); err == nil && !slices.Contains(show.Formats, format) {
		return usageError("--output=%s: choose %s", format, strings.Join(show.Formats, ", "))
	}
	if timeout, err := cmd.Flags().GetDuration("timeout"); err == nil && timeout < 0 {
		return usageError("--timeout=%s: it cannot be negative: 0 waits forever", timeout)
	}
	return nil
}

// progress returns the options for showing progress.
func (a *app) progress(timeout time.Duration) follow.Options {
	style := show.StyleOf(a.Out)
	return follow.Options{
		Out: a.Out, Style: style, Live: style.Terminal, Interval: a.interval, Timeout: timeout, Temporary: kube.Temporary,
	}
}

// onTarget makes the command run on the single object that its argument names, which has to be of one of the accepted
// kinds if there are any.
func (a *app) onTarget(
	cmd *cobra.Command, run func(context.Context, *kube.Session, inventory.Ref) error, accepted ...string,
) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = cobra.MaximumNArgs(1), a.completeTargets
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		session, err := a.open()
		if err != nil {
			return err
		}
		ref, err := kube.One(cmd.Context(), session, args, accepted...)
		if err != nil {
			return err
		}
		return run(cmd.Context(), session, ref)
	}
	return cmd
}

// completeTargets offers the ControlPlanes and services of the namespace.
func (a *app) completeTargets(cmd *cobra.Command, _ []string, _ string) (offers []string, _ cobra.ShellCompDirective) {
	session, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := kube.Candidates(cmd.Context(), session, session.Namespace)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, ref := range found.All() {
		offers = append(offers, ref.Arg())
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// withIdentity are the kinds that are an Identity service or have one.
var withIdentity = []string{inventory.KindControlPlane, inventory.KindKeystone}

// version is set by the linker for a release.
var version = "dev"

// versionDocument is what the command prints for programs.
type versionDocument struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	APIs    []string `json:"apis"`
}

// String is the version for people.
func (v versionDocument) String() string {
	return fmt.Sprintf("kubectl-forge %s (%s) for %s", v.Version, v.Go, strings.Join(v.APIs, ", "))
}

func currentVersion() versionDocument {
	document := versionDocument{Version: version, Go: runtime.Version()}
	for _, kind := range inventory.TargetKinds() {
		document.APIs = append(document.APIs, kind.GroupVersion().String())
	}
	return document
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and the APIs it knows",
		Args:  cobra.NoArgs,
	}
	format := outputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return show.Write(a.Out, *format, currentVersion(), func(out io.Writer) { fmt.Fprintln(out, currentVersion()) })
	}
	return cmd
}
