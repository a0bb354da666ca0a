package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

func (a *app) pauseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause [TARGET]",
		Short: "Keep the operators from working on a ControlPlane or a service",
		Long: "Sets the annotation " + vocabulary.AnnotationPaused + ". The operators change nothing until it is removed, repair\n" +
			"nothing and suspend the schedules; what runs goes on. A ControlPlane pauses its services. Deletion still works.",
		Example: "  kubectl forge pause controlplane/controlplane -n openstack",
	}
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.annotatePaused(ctx, session, ref, "true", "paused")
	})
}

func (a *app) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "resume [TARGET]",
		Short:   "Let the operators work on a paused ControlPlane or service again",
		Long:    "Removes the annotation " + vocabulary.AnnotationPaused + ". A service that its ControlPlane pauses is resumed with it.",
		Example: "  kubectl forge resume controlplane/controlplane -n openstack",
	}
	return a.onTarget(cmd, func(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
		return a.annotatePaused(ctx, session, ref, "", "resumed")
	})
}

// annotatePaused sets the annotation to the value, or removes it, and says what was done.
func (a *app) annotatePaused(ctx context.Context, session *kube.Session, ref inventory.Ref, value, done string) error {
	target, err := kube.Target(ctx, session, ref)
	if err != nil {
		return err
	}
	if vocabulary.IsPaused(target) == (value != "") {
		fmt.Fprintf(a.Out, "%s is already %s\n", ref.Arg(), done)
		return nil
	}
	if service, isService := target.(inventory.Resource); isService && value == "" {
		if plane := inventory.PlaneOf(inventory.Instance{Resource: service}); plane != nil {
			cp, err := kube.ControlPlane(ctx, session, *plane)
			if err == nil && vocabulary.IsPaused(cp) {
				return usageError("%s pauses %s: resume %s", plane.Arg(), ref.Arg(), plane.Arg())
			}
		}
	}
	before, _ := target.DeepCopyObject().(client.Object) // A copy has the type of its original.
	annotations := target.GetAnnotations()
	if value == "" {
		delete(annotations, vocabulary.AnnotationPaused)
	} else {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[vocabulary.AnnotationPaused] = value
	}
	target.SetAnnotations(annotations)
	if err := session.Patch(ctx, target, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("changing %s: %w", ref.Arg(), err)
	}
	fmt.Fprintf(a.Out, "%s %s\n", ref.Arg(), done)
	return nil
}
