package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

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

// withIdentity are the kinds that are an Identity service or have one.
var withIdentity = []string{inventory.KindControlPlane, inventory.KindKeystone}

// keystoneOf returns the Keystone of a ControlPlane, or the Keystone itself.
func keystoneOf(ref inventory.Ref) inventory.Ref {
	if ref.Kind != inventory.KindControlPlane {
		return ref
	}
	cp := &c5c3v1alpha1.ControlPlane{}
	cp.Name = ref.Name
	return inventory.Ref{Kind: inventory.KindKeystone, Namespace: ref.Namespace, Name: cp.KeystoneName()}
}
