package cli

import (
	"context"
	"fmt"

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

func (a *app) rotateKindCommand(kind rotate.Kind) *cobra.Command {
	cmd := &cobra.Command{
		Use:   kind.Name + " [TARGET]",
		Short: "Rotate " + kind.What,
		Long: fmt.Sprintf("Rotates %s now and follows the rotation. The Job is the same that runs on schedule.\n%s\n\n"+
			"If TARGET is a ControlPlane, this is done for its Keystone.", kind.What, kind.After),
		Example: fmt.Sprintf("  kubectl forge rotate %s keystone/keystone -n openstack", kind.Name),
	}
	flags := rotationFlags(cmd)
	return a.onActive(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
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
