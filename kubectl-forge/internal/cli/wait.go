package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

func (a *app) waitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wait [TARGET]",
		Short: "Wait for readiness, and show the conditions as they change",
		Long: "Waits until a ControlPlane or a service is ready as its spec asks. Meanwhile it shows the conditions: as a table that\n" +
			"is updated in place on a terminal, elsewhere as a line for each change. After a timeout it shows what is wrong, like\n" +
			"\"kubectl forge status\".",
		Example: "  kubectl forge wait\n  kubectl forge wait keystone/keystone -n openstack --timeout 5m",
	}
	timeout := cmd.Flags().Duration("timeout", defaultTimeout, timeoutUsage)
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		err := follow.Until(ctx, a.progress(*timeout), func(ctx context.Context) (follow.View, error) {
			obj, err := kube.Target(ctx, session, ref)
			return follow.Ready(ref, obj), err
		})
		return a.explainTimeout(ctx, session, ref, err)
	})
}

// explainTimeout shows what is wrong after a timeout.
func (a *app) explainTimeout(ctx context.Context, session *kube.Session, ref inventory.Ref, err error) error {
	if !errors.Is(err, follow.ErrTimeout) {
		return err
	}
	fmt.Fprintln(a.Out)
	shown := a.status(ctx, session, []string{ref.Namespace}, []string{ref.Arg()}, statusOptions{format: show.Formats[0]})
	if shown != nil && !errors.Is(shown, errSaid) {
		return errors.Join(err, shown)
	}
	fmt.Fprintln(a.Out)
	return fmt.Errorf("%s is not ready: %w", ref.Arg(), err)
}
