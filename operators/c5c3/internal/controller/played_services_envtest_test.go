//go:build integration

package controller_test

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// playServices simulates the operators of the services outside the worlds: it makes all their
// resources ready, unless an offline upgrade is held.
func playServices(ctx context.Context, cfg *rest.Config) error {
	c, err := client.New(cfg, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return err
	}
	install := func(obj client.Object, status *commonv1.ServiceStatus, tag string) bool {
		status.ObservedGeneration = obj.GetGeneration()
		if holdUpgrade(obj, status, tag) {
			return false
		}
		status.InstalledRelease = tag
		return true
	}
	return errors.Join(
		play(ctx, cfg, &keystonev1alpha1.KeystoneList{}, func(k *keystonev1alpha1.Keystone) bool {
			watchOrder(ctx, c, k)
			return install(k, &k.Status.ServiceStatus, k.Spec.Image.Tag)
		}),
		play(ctx, cfg, &placementv1alpha1.PlacementList{}, func(p *placementv1alpha1.Placement) bool {
			return install(p, &p.Status.ServiceStatus, p.Spec.Image.Tag)
		}),
	)
}

// serviceResource is the resource of a service.
type serviceResource interface {
	client.Object
	commonv1.Describer
	ServiceStatus() *commonv1.ServiceStatus
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
}

func play[T serviceResource](ctx context.Context, cfg *rest.Config, list client.ObjectList, install func(T) bool) error {
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return err
	}
	events, err := c.Watch(ctx, list)
	if err != nil {
		return err
	}
	go func() {
		// The API server ends a watch after half an hour or more.
		for ; err == nil; events, err = c.Watch(ctx, list) {
			for event := range events.ResultChan() {
				obj, ok := event.Object.(T)
				if !ok {
					continue
				}
				if _, shared := worlds.Load(obj.GetNamespace()); shared {
					continue
				}
				ready := meta.FindStatusCondition(obj.GetConditions(), "Ready")
				if ready != nil && ready.ObservedGeneration == obj.GetGeneration() && ready.Status == metav1.ConditionTrue {
					continue
				}
				before, _ := obj.DeepCopyObject().(client.Object)
				condition := metav1.Condition{
					Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", ObservedGeneration: obj.GetGeneration(),
				}
				if ptr.Deref(obj.ServiceSpec().Hibernation, false) {
					condition.Reason = "Hibernated"
				} else if install(obj) {
					condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "AllReady", "ready"
				}
				conditions := obj.GetConditions()
				meta.SetStatusCondition(&conditions, condition)
				obj.SetConditions(conditions)
				// An error is ignored because the resource may have been deleted.
				_ = c.Status().Patch(ctx, obj, client.MergeFrom(before))
			}
		}
	}()
	return nil
}
