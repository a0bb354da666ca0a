package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/rotate"
)

func (a *app) rotateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace keys, the administrator's password or the application credential now",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, kind := range []rotate.Kind{rotate.Fernet, rotate.Credential, rotate.Password} {
		cmd.AddCommand(a.rotateKindCommand(kind))
	}
	cmd.AddCommand(a.rotateCredentialCommand())
	return cmd
}

// rotation are the flags of every rotation.
type rotation struct {
	timeout *time.Duration
	noWait  *bool
}

func rotationFlags(cmd *cobra.Command) rotation {
	return rotation{
		timeout: cmd.Flags().Duration("timeout", defaultTimeout, timeoutUsage),
		noWait:  cmd.Flags().Bool("no-wait", false, "Start it and return."),
	}
}
