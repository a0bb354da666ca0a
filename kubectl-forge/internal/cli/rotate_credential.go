package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/rotate"
)

func (a *app) rotateCredentialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   rotate.ApplicationCredential + " [TARGET]",
		Short: "Replace the administrator's application credential of a ControlPlane",
		Long: "Replaces the application credential that K-ORC and other clients of a ControlPlane use, and follows the replacement. It\n" +
			"requests it with a CredentialRotation, which it deletes when the new credential has reached its users. The old one\n" +
			"remains valid for at least two minutes.",
		Example: "  kubectl forge rotate application-credential controlplane/controlplane -n openstack",
	}
	flags := rotationFlags(cmd)
	return a.onActive(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		if ref.Kind != inventory.KindControlPlane {
			return usageError("%s has no application credential: name a ControlPlane", ref.Arg())
		}
		return a.rotateCredential(ctx, session, ref, flags)
	})
}

func (a *app) rotateCredential(ctx context.Context, session *kube.Session, ref inventory.Ref, flags rotation) error {
	cp, err := kube.ControlPlane(ctx, session, ref)
	if err != nil {
		return err
	}
	if err := rotate.CheckControlPlane(cp); err != nil {
		return notReady(err)
	}
	request, before := rotate.Request(cp), rotate.CredentialID(cp)
	if err := session.Create(ctx, request); err != nil {
		return fmt.Errorf("requesting another credential: %w", err)
	}
	fmt.Fprintf(a.Out, "created CredentialRotation %s\n", request.Name)
	if *flags.noWait {
		return nil
	}
	err = follow.Until(ctx, a.progress(*flags.timeout), func(ctx context.Context) (follow.View, error) {
		if err := session.Get(ctx, client.ObjectKeyFromObject(request), request); err != nil {
			return follow.View{}, err
		}
		cp, err := kube.ControlPlane(ctx, session, ref)
		return rotate.CredentialView(request, cp, before), err
	})
	if err != nil {
		return fmt.Errorf("%w; CredentialRotation %s stays, and the replacement continues", followError(err), request.Name)
	}
	if err := client.IgnoreNotFound(session.Delete(ctx, request)); err != nil {
		fmt.Fprintf(a.ErrOut, "CredentialRotation %s stays: %s\n", request.Name, err)
	}
	fmt.Fprintln(a.Out, "Clients that read the Secret have the new credential; the old one is revoked in at least two minutes.")
	return nil
}
