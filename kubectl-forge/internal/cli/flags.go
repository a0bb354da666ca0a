package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// defaultTimeout is the longest wait of a command that has no reason for another.
const defaultTimeout = 10 * time.Minute

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

// period is the value of a flag that cannot be negative. Its type in the help is that of any
// duration.
type period time.Duration

func (p *period) String() string { return time.Duration(*p).String() }

func (p *period) Type() string { return "duration" }

// Set implements pflag.Value.
func (p *period) Set(text string) error {
	value, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if value < 0 {
		return errors.New("it cannot be negative: 0 waits forever")
	}
	*p = period(value)
	return nil
}

// timeoutFlag adds the flag for the longest wait.
func timeoutFlag(cmd *cobra.Command, usual time.Duration) *time.Duration {
	return waitFlag(cmd, usual, "Maximum time to wait, such as 90s or 10m; 0 waits forever.")
}

func waitFlag(cmd *cobra.Command, usual time.Duration, usage string) *time.Duration {
	timeout := usual
	cmd.Flags().Var((*period)(&timeout), "timeout", usage)
	return &timeout
}

// rotation are the flags of every rotation.
type rotation struct {
	timeout *time.Duration
	noWait  *bool
}

func rotationFlags(cmd *cobra.Command) rotation {
	return rotation{
		timeout: timeoutFlag(cmd, defaultTimeout),
		noWait:  cmd.Flags().Bool("no-wait", false, "Start it and return."),
	}
}

// exclusive is an error if the user has set both flags.
func exclusive(cmd *cobra.Command, one, other string) error {
	if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
		return usageError{fmt.Errorf("--%s and --%s cannot be combined: specify one of them", one, other)}
	}
	return nil
}
