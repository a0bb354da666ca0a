package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

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
