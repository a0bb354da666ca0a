package services

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// reconcile applies the resource of the service and reports its progress.
func (all List) reconcile(ctx context.Context, s *pass.Pass, svc Service) reconcile.Outcome {
	if !svc.wanted(s.CP) {
		return all.release(ctx, s, svc)
	}
	if lacking := svc.lacking(s); lacking != "" {
		return reconcile.Waiting(svc.reasons.notInstalled, svc.toInstall(lacking))
	}
	login, notEnrolled := keepUser(ctx, s, svc)
	if notEnrolled != nil && login == "" {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonServiceUserError, notEnrolled)
	}
	child, err := svc.desired(s.CP, given{
		login: login, policy: all.globalPolicy(s.CP, svc), domains: identityDomains.Value(s.Slots),
	})
	if err != nil {
		return reconcile.Terminal(svc.reasons.failed, err)
	}
	if svc.Database != nil {
		requestOffline(s.CP, child)
	}
	if waits, err := all.stopOthers(ctx, s, svc, child); err != nil || waits != "" {
		return all.awaitOthers(s, svc, waits, err)
	}
	waits, err := svc.apply(ctx, s, child)
	switch {
	case apierrors.IsInvalid(err):
		return reconcile.WriteFailed(svc.reasons.rejected, err)
	case err != nil:
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	all.observe(s, svc, child)
	if err := all.admitClients(ctx, s, svc, child); err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	switch {
	case refusesRollBack(child):
		return reconcile.Terminal(svc.reasons.rollBackRefused, rollBackError(child.ServiceStatus(), svc.releaseField(s.CP)))
	case notEnrolled != nil:
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonServiceUserError, notEnrolled)
	case !isReady(child):
		return reconcile.Waiting(svc.reasons.waiting, all.progress(s.CP, svc, child)+svc.pauseNote(child))
	}
	return svc.ready(ctx, s, child, login, waits)
}

// ready is the outcome for a service whose resource is ready. Its earlier users are removed once
// its parts do not have to wait either.
func (svc Service) ready(ctx context.Context, s *pass.Pass, child child, login, waits string) reconcile.Outcome {
	if waits != "" {
		return reconcile.Waiting(svc.reasons.waiting, waits+svc.pauseNote(child))
	}
	done := reconcile.Done(svc.reasons.ready, fmt.Sprintf("%s %s is ready", svc.Kind.Kind, child.GetName())+svc.pauseNote(child))
	if !svc.hasUser {
		return done
	}
	again, err := retireUsers(ctx, s, svc, login)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonServiceUserError, err)
	}
	return done.After(cmp.Or(again, s.Proofs.Due()))
}

// pauseNote says that a user has paused the service itself, "" if none has. A paused control
// plane pauses its services, too, but runs no step.
func (svc Service) pauseNote(child child) string {
	if !vocabulary.IsPaused(child) {
		return ""
	}
	return fmt.Sprintf("; %s %s was paused separately from the ControlPlane: its operator leaves it as it is "+
		"until its annotation %s is removed", svc.Kind.Kind, child.GetName(), vocabulary.AnnotationPaused)
}

// lacking returns a kind of the service that the cluster does not have, "" if there is none.
func (svc Service) lacking(s *pass.Pass) string {
	switch {
	case !s.Kinds.Served(svc.Kind):
		return svc.Kind.Kind
	case svc.needsParts() && !s.Kinds.Served(svc.Parts.Kind):
		return svc.Parts.Kind.Kind
	}
	return ""
}

// toInstall says what to do for a kind that the cluster does not have.
func (svc Service) toInstall(kind string) string {
	return fmt.Sprintf("The cluster has no kind %s: install the %s operator", kind, svc.Kind.Kind)
}

// apply applies the resource and the parts that it needs, and lets it continue if it was held for the upgrade
// of the Identity service. It returns what the parts wait for, "" if nothing.
func (svc Service) apply(ctx context.Context, s *pass.Pass, child child) (waits string, err error) {
	if err := apply.EnsureObject[client.Object](ctx, s.ThirdParty, s.Scheme, s.CP, child, pass.FieldManager); err != nil {
		return "", err
	}
	if err := pass.Wake(ctx, s, child); err != nil {
		return "", err
	}
	if err := letGo(ctx, s, child); err != nil {
		return "", err
	}
	if !svc.needsParts() {
		return "", nil
	}
	return svc.applyParts(ctx, s)
}

// rollBackError says why an update cannot be aborted, and what to set the field of the
// release to.
func rollBackError(status *commonv1.ServiceStatus, field string) error {
	from, to, what, wayBack := status.InstalledRelease, status.TargetRelease, "contraction of the database schema", ""
	if status.UpgradePhase.IsOffline() {
		what, wayBack = "migration of the database", "; the only way back to "+from+" is a restore of a database backup"
	}
	return fmt.Errorf("the update from %s to %s can no longer be aborted, because the %s has begun; set %s to %s%s",
		from, to, what, field, to, wayBack)
}

func (all List) progress(cp *c5c3v1alpha1.ControlPlane, svc Service, child child) string {
	ready := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != child.GetGeneration():
		return fmt.Sprintf("The %[1]s operator has not processed %[1]s %[2]s yet", svc.Kind.Kind, child.GetName())
	case ready.Message == "":
		return fmt.Sprintf("%s %s is not ready", svc.Kind.Kind, child.GetName())
	}
	return fmt.Sprintf("%s %s is not ready: %s", svc.Kind.Kind, child.GetName(), ready.Message) +
		all.explain(cp, svc, child)
}

// explain returns what the words of a service's operator mean in a ControlPlane, "" if
// they mean the same: the image tag is derived from another field, and so is the request for
// an offline upgrade.
func (all List) explain(cp *c5c3v1alpha1.ControlPlane, svc Service, child child) string {
	switch {
	case asksForOffline(child):
		return fmt.Sprintf("; here set that annotation on ControlPlane %s: %q", cp.Name, cp.Spec.OpenStackRelease)
	case !asksForTag(child):
		return ""
	}
	explained := "; here " + svc.releaseField(cp) + " sets " + commonv1.ImageTagField
	if ahead, release := all.ahead(cp, svc, child.ServiceStatus().InstalledRelease); release != "" {
		explained += fmt.Sprintf(", and it cannot be set back, because %s already has %s; %s.image sets the image of %s alone",
			ahead.Kind.Kind, release, svc.field(), svc.Kind.Kind)
	}
	return explained
}

// releaseField returns the field that sets the image tag of the service.
func (svc Service) releaseField(cp *c5c3v1alpha1.ControlPlane) string {
	if svc.hasOwnTag(cp) {
		return svc.field() + "." + commonv1.ImageTagField
	}
	return "spec.openStackRelease"
}

func (svc Service) hasOwnTag(cp *c5c3v1alpha1.ControlPlane) bool {
	image := svc.image(cp)
	return image != nil && image.Tag != ""
}

// ahead returns a service with a later release than the one that the given service has
// installed, and that release, "" for none. The release of the control plane cannot be set
// back then.
func (all List) ahead(cp *c5c3v1alpha1.ControlPlane, svc Service, installed string) (Service, string) {
	if svc.hasOwnTag(cp) || installed == "" {
		return Service{}, ""
	}
	series, _, _ := strings.Cut(installed, "-")
	found := cp.ServiceAhead(series)
	if found == nil {
		return Service{}, ""
	}
	for _, other := range all {
		if other.name == found.Name {
			return other, found.Release
		}
	}
	return Service{}, ""
}
