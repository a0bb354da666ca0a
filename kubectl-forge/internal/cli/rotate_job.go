package cli

import (
	"context"
	"errors"
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
			"If TARGET is a ControlPlane, this is done for its Keystone.", kind.What, kind.After()),
		Example: fmt.Sprintf("  kubectl forge rotate %s keystone/keystone -n openstack", kind.Name),
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completeTargets,
	}
	flags := rotationFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		session, ref, err := a.target(cmd.Context(), args, withIdentity...)
		if err != nil {
			return err
		}
		return a.rotateKind(cmd.Context(), session, keystoneOf(ref), kind, flags)
	}
	return cmd
}

func (a *app) rotateKind(ctx context.Context, session *kube.Session, ref inventory.Ref, kind rotate.Kind, flags rotation) error {
	cronJob := &batchv1.CronJob{}
	err := session.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: kind.CronJobName(ref.Name)}, cronJob)
	switch {
	case apierrors.IsNotFound(err):
		return notReadyError{kind.Missing(ref.Name)}
	case err != nil:
		return kube.Explain(err)
	}
	events, noEvents, err := eventsOf(ctx, session, ref)
	if err != nil {
		return err
	}
	baseline := rotate.NewBaseline(events)
	run := rotate.Job(cronJob)
	if err := session.Create(ctx, run); err != nil {
		return fmt.Errorf("starting a Job of CronJob %s: %w", cronJob.Name, kube.Explain(err))
	}
	fmt.Fprintf(a.Out, "started Job %s\n", run.Name)
	if *flags.noWait {
		return nil
	}
	err = follow.Until(ctx, a.progress(*flags.timeout), func(ctx context.Context) (follow.View, error) {
		facts, err := rotationFacts(ctx, session, ref, run)
		if err != nil {
			return follow.View{}, err
		}
		if facts.NoEvents = noEvents; !noEvents {
			events, _, err := eventsOf(ctx, session, ref)
			if err != nil {
				return follow.View{}, err
			}
			facts.News = baseline.News(events)
		}
		return kind.View(facts), nil
	})
	if err != nil {
		return followError(err)
	}
	fmt.Fprintln(a.Out, kind.After())
	return nil
}

func rotationFacts(ctx context.Context, session *kube.Session, ref inventory.Ref, run *batchv1.Job) (rotate.Facts, error) {
	keystone, err := kube.Keystone(ctx, session, ref.Namespace, ref.Name)
	if err != nil {
		return rotate.Facts{}, err
	}
	facts := rotate.Facts{Keystone: keystone, Job: run}
	if err := session.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return facts, kube.Explain(err)
	}
	var pods corev1.PodList
	err = kube.Explain(session.List(ctx, &pods, client.InNamespace(ref.Namespace), client.MatchingLabels{batchv1.JobNameLabel: run.Name}))
	var missing *kube.MissingRightError
	if err != nil && !errors.As(err, &missing) {
		return facts, err
	}
	facts.Pods = pods.Items
	return facts, nil
}

// eventsOf returns the events about the object. hidden is set when the user may
// not list events.
func eventsOf(ctx context.Context, session *kube.Session, ref inventory.Ref) (events []corev1.Event, hidden bool, err error) {
	var list corev1.EventList
	err = kube.Explain(session.List(ctx, &list, client.InNamespace(ref.Namespace),
		client.MatchingFields{"involvedObject.kind": ref.Kind, "involvedObject.name": ref.Name}))
	if _, missing := errors.AsType[*kube.MissingRightError](err); missing {
		return nil, true, nil
	}
	return list.Items, false, err
}
