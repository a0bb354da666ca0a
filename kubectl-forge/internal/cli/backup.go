package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/backup"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/rotate"
)

func (a *app) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup [TARGET]",
		Short: "Take a backup of a ControlPlane now",
		Long: "Takes a backup of the databases of a ControlPlane and of Keystone's keys, and follows it until the operator has proven\n" +
			"that the keys fit the databases. The Job is the same that runs on schedule.",
		Example: "  kubectl forge backup controlplane/controlplane -n openstack",
	}
	flags := rotationFlags(cmd)
	return a.onActive(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.backUp(ctx, session, ref, flags)
	}, inventory.KindControlPlane)
}

func (a *app) backUp(ctx context.Context, session *kube.Session, ref inventory.Ref, flags rotation) error {
	cp, err := kube.ControlPlane(ctx, session, ref)
	if err != nil {
		return err
	}
	if err := backup.Check(cp); err != nil {
		return notReady(err)
	}
	cronJob := &batchv1.CronJob{}
	err = session.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: cp.BackupName()}, cronJob)
	switch {
	case apierrors.IsNotFound(err):
		return notReady(backup.Missing(cp))
	case err != nil:
		return err
	}
	run := rotate.Job(cronJob)
	if err := session.Create(ctx, run); err != nil {
		return fmt.Errorf("starting a Job of CronJob %s: %w", cronJob.Name, err)
	}
	fmt.Fprintf(a.Out, "started Job %s\n", run.Name)
	if *flags.noWait {
		return nil
	}
	err = follow.Until(ctx, a.progress(*flags.timeout), func(ctx context.Context) (follow.View, error) {
		return backupView(ctx, session, ref, run)
	})
	if err != nil {
		return followError(err)
	}
	return nil
}

func backupView(ctx context.Context, session *kube.Session, ref inventory.Ref, run *batchv1.Job) (follow.View, error) {
	cp, err := kube.ControlPlane(ctx, session, ref)
	if err != nil {
		return follow.View{}, err
	}
	if err := session.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return follow.View{}, err
	}
	pods, err := kube.PodsOf(ctx, session, run)
	if kube.IsMissingRight(err) {
		err = nil
	}
	return backup.View(cp, run, pods), err
}
