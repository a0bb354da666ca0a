package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

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

// onActive is onTarget for a command that needs the operators to work on the object.
func (a *app) onActive(
	cmd *cobra.Command, run func(context.Context, *kube.Session, inventory.Ref) error, accepted ...string,
) *cobra.Command {
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		switch target, err := kube.Target(ctx, session, ref); {
		case err != nil:
		case vocabulary.IsPaused(target):
			return usageError("%s is paused: first run kubectl forge resume %s", ref.Arg(), ref.Arg())
		case vocabulary.Hibernates(target.GetConditions()):
			return usageError("%s hibernates: first set spec.hibernation to false, of its ControlPlane if it has one", ref.Arg())
		}
		return run(ctx, session, ref)
	}, accepted...)
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
