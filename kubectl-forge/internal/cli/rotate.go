package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
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

func (a *app) rotateKindCommand(kind rotate.Kind) *cobra.Command {
	cmd := &cobra.Command{
		Use:   kind.Name + " [TARGET]",
		Short: "Rotate " + kind.What,
		Long: fmt.Sprintf("Rotates %s now and follows the rotation. The Job is the same that runs on schedule.\n%s\n\n"+
			"If TARGET is a ControlPlane, this is done for its Keystone.", kind.What, kind.After),
		Example: fmt.Sprintf("  kubectl forge rotate %s keystone/keystone -n openstack", kind.Name),
	}
	flags := rotationFlags(cmd)
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.rotateKind(ctx, session, kube.KeystoneOf(ref), kind, flags)
	}, withIdentity...)
}

func (a *app) rotateKind(ctx context.Context, session *kube.Session, ref inventory.Ref, kind rotate.Kind, flags rotation) error {
	cronJob := &batchv1.CronJob{}
	err := session.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: kind.CronJobName(ref.Name)}, cronJob)
	switch {
	case apierrors.IsNotFound(err):
		return notReady(kind.Missing(ref.Name))
	case err != nil:
		return err
	}
	before, err := eventsOf(ctx, session, ref)
	noEvents := kube.IsMissingRight(err)
	if err != nil && !noEvents {
		return err
	}
	baseline := rotate.NewBaseline(before)
	run := rotate.Job(cronJob)
	if err := session.Create(ctx, run); err != nil {
		return fmt.Errorf("starting a Job of CronJob %s: %w", cronJob.Name, err)
	}
	fmt.Fprintf(a.Out, "started Job %s\n", run.Name)
	if *flags.noWait {
		return nil
	}
	err = follow.Until(ctx, a.progress(*flags.timeout), func(ctx context.Context) (follow.View, error) {
		facts, err := rotationFacts(ctx, session, ref, run)
		if facts.NoEvents = noEvents; err == nil && !noEvents {
			var events []corev1.Event
			events, err = eventsOf(ctx, session, ref)
			facts.News = baseline.News(events)
		}
		if err != nil {
			return follow.View{}, err
		}
		return kind.View(facts), nil
	})
	if err != nil {
		return followError(err)
	}
	fmt.Fprintln(a.Out, kind.After)
	return nil
}

func rotationFacts(ctx context.Context, session *kube.Session, ref inventory.Ref, run *batchv1.Job) (rotate.Facts, error) {
	keystone, err := kube.Keystone(ctx, session, ref)
	if err != nil {
		return rotate.Facts{}, err
	}
	if err := session.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return rotate.Facts{}, err
	}
	pods, err := kube.PodsOf(ctx, session, run)
	if kube.IsMissingRight(err) {
		err = nil
	}
	return rotate.Facts{Keystone: keystone, Job: run, Pods: pods}, err
}

// eventsOf returns the events about the object.
func eventsOf(ctx context.Context, session *kube.Session, ref inventory.Ref) ([]corev1.Event, error) {
	var list corev1.EventList
	err := session.List(ctx, &list, client.InNamespace(ref.Namespace),
		client.MatchingFields{"involvedObject.kind": ref.Kind, "involvedObject.name": ref.Name})
	return list.Items, err
}

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
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
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
