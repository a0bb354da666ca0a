package kube

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Get reads the object that the reference names.
func Get[T client.Object](ctx context.Context, s *Session, ref inventory.Ref, into T) (T, error) {
	return into, s.Get(ctx, ref.Key(), into)
}

// ControlPlane reads the ControlPlane that the reference names.
func ControlPlane(ctx context.Context, s *Session, ref inventory.Ref) (*c5c3v1alpha1.ControlPlane, error) {
	return Get(ctx, s, ref, &c5c3v1alpha1.ControlPlane{})
}

// Keystone reads the Keystone that the reference names.
func Keystone(ctx context.Context, s *Session, ref inventory.Ref) (*keystonev1alpha1.Keystone, error) {
	return Get(ctx, s, ref, &keystonev1alpha1.Keystone{})
}

// Service reads the service that the reference names.
func Service(ctx context.Context, s *Session, ref inventory.Ref) (inventory.Instance, error) {
	kind := inventory.ServiceKindOf(ref.Kind)
	resource, err := Get(ctx, s, ref, kind.Empty())
	return inventory.Instance{Resource: resource, Of: kind}, err
}

// Target reads the ControlPlane or the service that the reference names.
func Target(ctx context.Context, s *Session, ref inventory.Ref) (inventory.Conditioned, error) {
	if ref.Kind == inventory.KindControlPlane {
		return ControlPlane(ctx, s, ref)
	}
	return Get[inventory.Resource](ctx, s, ref, inventory.ServiceKindOf(ref.Kind).Empty())
}

// KeystoneOf returns the reference to the Keystone of a ControlPlane, or to the Keystone itself.
func KeystoneOf(ref inventory.Ref) inventory.Ref {
	if ref.Kind == inventory.KindControlPlane {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Name = ref.Name
		ref.Kind, ref.Name = inventory.KindKeystone, cp.KeystoneName()
	}
	return ref
}

// ServicesOf reads the services that the ControlPlane owns. What the user may not read is
// an error.
func ServicesOf(ctx context.Context, s *Session, cp *c5c3v1alpha1.ControlPlane) ([]inventory.Instance, error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: cp.Namespace}}
	if _, err := r.readServices(ctx); err != nil {
		return nil, err
	}
	if len(r.found.Gaps) > 0 {
		return nil, r.found.Gaps[0]
	}
	return r.found.ServicesOf(cp), nil
}

// PodsOf reads the pods of a Job.
func PodsOf(ctx context.Context, s *Session, run *batchv1.Job) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := s.List(ctx, &pods, client.InNamespace(run.Namespace), client.MatchingLabels{batchv1.JobNameLabel: run.Name})
	return pods.Items, err
}
