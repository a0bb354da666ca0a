package services

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// An offline upgrade of a control plane begins with the services that need the Identity
// service: they get the new image first, while Keystone still answers the checks of their
// service users, and are held once they are stopped. Then Keystone is upgraded, and each of
// the others continues when its own step has its turn. The resources of the services hold
// all of this, so that any pass can continue it.

// offlineManager owns the fields that stop a service before its own turn.
const offlineManager = pass.FieldManager + "-offline"

// offlineTag returns the image tag of the resource if the control plane requests an offline
// upgrade to its release, "" otherwise. The image of the user may be a build of that release.
func offlineTag(cp *c5c3v1alpha1.ControlPlane, desired child) string {
	asked, tag := cp.Annotations[commonv1.AnnotationOfflineUpgrade], desired.ServiceSpec().Image.Tag
	if series, _, _ := strings.Cut(tag, "-"); asked != cp.Spec.OpenStackRelease || asked != series {
		return ""
	}
	return tag
}

// requestOffline adds the request of the control plane to the resource.
func requestOffline(cp *c5c3v1alpha1.ControlPlane, desired child) {
	if tag := offlineTag(cp, desired); tag != "" {
		desired.SetAnnotations(map[string]string{commonv1.AnnotationOfflineUpgrade: tag})
	}
}

// stopOthers stops all other services with a database if the Identity service is about to be
// upgraded offline. It returns what that waits for, "" if nothing.
func (all List) stopOthers(ctx context.Context, s *pass.Pass, svc Service, desired child) (waits string, err error) {
	tag := offlineTag(s.CP, desired)
	if svc.name != all.Identity().name || tag == "" {
		return "", nil
	}
	live, err := svc.find(ctx, s)
	if err != nil || live == nil || !upgrades(live, tag) || live.ServiceStatus().TargetRelease == tag {
		return "", err
	}
	var running []string
	for _, other := range all[1:].wantedBy(s.CP).withDatabase() {
		state, err := other.stop(ctx, s)
		if err != nil {
			return "", err
		}
		if state != "" {
			running = append(running, state)
		}
	}
	if len(running) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s %s is upgraded offline when the other services are stopped; waiting for %s",
		svc.Kind.Kind, live.GetName(), strings.Join(running, ", ")), nil
}

// awaitOthers is the outcome while an offline upgrade of the service waits for the others.
func (all List) awaitOthers(s *pass.Pass, svc Service, waits string, err error) reconcile.Outcome {
	if err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	all.setPhase(s, svc, func(c5c3v1alpha1.UpdatePhase) c5c3v1alpha1.UpdatePhase { return c5c3v1alpha1.UpdatePhaseUpdating })
	return reconcile.Waiting(svc.reasons.waiting, waits)
}

// stop stops the service if it is to be upgraded offline, and returns what is still
// running, "" for nothing.
func (svc Service) stop(ctx context.Context, s *pass.Pass) (running string, err error) {
	if !s.Kinds.Served(svc.Kind) {
		return "", nil
	}
	desired, err := svc.child(s.CP, given{})
	if err != nil {
		return "", err
	}
	live, err := svc.find(ctx, s)
	tag := offlineTag(s.CP, desired)
	if err != nil || live == nil || tag == "" || !upgrades(live, tag) {
		return "", err
	}
	if err := applyHeld(ctx, s, live, desired.ServiceSpec().Image); err != nil {
		return "", err
	}
	database := meta.FindStatusCondition(live.GetConditions(), vocabulary.ConditionDatabaseReady)
	running = fmt.Sprintf("%s %s", svc.Kind.Kind, live.GetName()) + svc.pauseNote(live)
	switch {
	case database == nil || database.ObservedGeneration != live.GetGeneration():
		return running, nil
	case database.Reason == vocabulary.ReasonUpgradeHeld && live.ServiceStatus().TargetRelease == tag:
		return "", nil
	case database.Status == metav1.ConditionTrue:
		return running, nil
	}
	return running + ": " + database.Message, nil
}

// applyHeld gives the service the image, with the request to upgrade to it offline and to
// wait when it is stopped.
func applyHeld(ctx context.Context, s *pass.Pass, live child, image commonv1.ImageSpec) error {
	asked := live.GetAnnotations()
	if live.ServiceSpec().Image == image &&
		asked[commonv1.AnnotationOfflineUpgrade] == image.Tag && asked[commonv1.AnnotationHoldUpgrade] == image.Tag {
		return nil
	}
	return apply.Fields(ctx, s.ThirdParty, live, map[string]any{
		"metadata": map[string]any{
			"annotations": map[string]string{
				commonv1.AnnotationOfflineUpgrade: image.Tag, commonv1.AnnotationHoldUpgrade: image.Tag,
			},
		},
		"spec": map[string]any{"image": image},
	}, offlineManager)
}

// letGo lets a service that was stopped before its turn continue. Its own fields are applied
// by now.
func letGo(ctx context.Context, s *pass.Pass, live child) error {
	if live.GetAnnotations()[commonv1.AnnotationHoldUpgrade] == "" {
		return nil
	}
	return apply.Fields(ctx, s.ThirdParty, live, nil, offlineManager)
}

// find returns the resource of the service, nil if the control plane has none.
func (svc Service) find(ctx context.Context, s *pass.Pass) (child, error) {
	live := svc.Empty()
	if err := s.ThirdParty.Get(ctx, pass.Key(s, svc.childName(s.CP)), live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(live, s.CP) {
		return nil, nil
	}
	return live, nil
}

// upgrades reports whether the tag is a later release than the service has.
func upgrades(live child, tag string) bool {
	target, errTarget := release.Parse(tag)
	installed, errInstalled := release.Parse(live.ServiceStatus().InstalledRelease)
	return errTarget == nil && errInstalled == nil && target.Compare(installed) > 0
}
