//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// placement adds a Placement to a control plane.
func placement(cp *c5c3v1alpha1.ControlPlane) {
	cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
}

// emptyWithPlacement is a control plane with a Placement that is not created yet.
func emptyWithPlacement(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	w.seed()
	w.seedPlacement()
	placement(w.cp)
	return w
}

// begunWithPlacement is a control plane with a Placement whose Keystone is ready.
func begunWithPlacement(t *testing.T) *world {
	t.Helper()
	w := emptyWithPlacement(t)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	return w
}

func convergedWithPlacement(t *testing.T) *world {
	t.Helper()
	w := begunWithPlacement(t)
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	return w
}

func (w *world) seedPlacement() {
	secrets.Put("openstack/placement/"+w.cp.Namespace+"/controlplane/db", map[string]string{"username": "placement", "password": "p"})
}

// placement waits for the Placement and returns it.
func (w *world) placement(t *testing.T) *placementv1alpha1.Placement {
	t.Helper()
	p := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")}
	expect.Exists(t, w, p)
	return p
}

// reportPlacement simulates a Placement operator that has observed the current spec.
func (w *world) reportPlacement(t *testing.T, installed string, ready bool) {
	t.Helper()
	objects.ChangeStatus(t, w, w.placement(t), func(p *placementv1alpha1.Placement) {
		condition := metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", Message: "pods are starting",
			ObservedGeneration: p.Generation, LastTransitionTime: metav1.Now(),
		}
		if ready {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "AllReady", "All sub-resources are ready"
		}
		p.Status.Conditions = []metav1.Condition{condition}
		p.Status.InstalledRelease = installed
	})
}

// login returns the Secret with the user that the Placement has.
func (w *world) login(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: w.meta(w.placement(t).Spec.ServiceUserSecretRef.Name)}
	expect.Exists(t, w, secret)
	return secret
}

// getsAnotherLogin waits until the Placement has another user.
func (w *world) getsAnotherLogin(t *testing.T, old *corev1.Secret) {
	t.Helper()
	p := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")}
	expect.Object(t, w, p, func() error {
		if p.Spec.ServiceUserSecretRef.Name == old.Name {
			return errors.New("it has the old user")
		}
		return nil
	})
}

// requestPassword requests a new password of the Placement's user.
func (w *world) requestPassword(t *testing.T) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: w.meta("controlplane-placement-service-user")}
	objects.Change(t, w, secret, func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, "now")
	})
}

// serviceUsers waits until Keystone has exactly these users apart from the administrator.
func (w *world) serviceUsers(t *testing.T, names ...string) {
	t.Helper()
	slices.Sort(names)
	expect.Eventually(t, "the users in Keystone", func(context.Context) error {
		var got []string
		for name := range korc.Names(w.cp.Namespace, "User") {
			if name != "admin" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(names, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

func TestAControlPlaneWithPlacementConverges(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	w.expect(t, "PlacementReady", metav1.ConditionTrue, "PlacementReady")
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady", "controlplane-placement-db-credentials")
	want := []c5c3v1alpha1.ServiceStatus{
		{Name: "keystone", Ready: true, Release: "2025.2"}, {Name: "placement", Ready: true, Release: "2025.2"},
	}
	if diff := cmp.Diff(want, w.cp.Status.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	if p := w.placement(t); !metav1.IsControlledBy(p, w.cp) || p.Spec.Database.Database != "placement" ||
		p.Spec.Database.ClusterRef.Name != "openstack-db" || p.Spec.Cache.ClusterRef.Name != "openstack-memcached" {
		t.Errorf("the Placement is %+v of %v", p.Spec, p.OwnerReferences)
	}
	w.serviceUsers(t, string(w.login(t).Data["username"]))
	if n := korc.Assigned(w.cp.Namespace); n != 1 {
		t.Errorf("%d roles are assigned", n)
	}
	service := &orcv1alpha1.Service{ObjectMeta: w.meta("controlplane-placement-service")}
	expect.Exists(t, w, service)
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered",
		"Placement at http://controlplane-placement."+w.cp.Namespace+".svc.cluster.local:8778")
	if message := meta.FindStatusCondition(w.cp.Status.Conditions, "CatalogReady").Message; strings.Count(message, "Placement at") != 1 {
		t.Errorf("an address is repeated: %s", message)
	}
}

func TestAPassOverAControlPlaneWithPlacementMakesNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestThePlacementWaitsForWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	placement(w.cp)
	objects.Create(t, w, w.cp)
	w.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "WaitingForDBCredentialSecret",
		"username and password at openstack/placement/"+w.cp.Namespace+"/controlplane/db")
	w.seedPlacement()
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady")
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForKeystone", "Waiting for KeystoneReady")
	lift := w.refuse(t, "apply", "projects", "controlplane-project-"+shortHash("Project/service"))
	w.report(t, "2025.2", "", true)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForServiceUser", "project service", "KORCReady says why")
	lift()
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForPlacement", "has not processed Placement controlplane-placement yet")
	w.reportPlacement(t, "", false)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForPlacement", "is not ready: pods are starting")
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestPlacementWaitsUntilItsServiceUserIsVerified(t *testing.T) {
	t.Parallel()
	w := emptyWithPlacement(t)
	unreachable.Store(w.cp.Namespace, true)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "ServiceUserUnproven", "no route to host", "let the operator reach")
	err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: "controlplane-placement"}, &placementv1alpha1.Placement{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("there is a Placement without a user: %v", err)
	}
	unreachable.Delete(w.cp.Namespace)
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAServiceUserWithAForeignPasswordChangeIsReplaced(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	old := w.login(t)
	korc.SetPassword(w.cp.Namespace, korc.Names(w.cp.Namespace, "User")[string(old.Data["username"])], "theirs")
	changes := w.follow(t)
	w.pass(t, proofPeriod)
	changes.Condition(t, "PlacementReady", metav1.ConditionFalse, "ServiceUserRejected", "refuses the user "+string(old.Data["username"]))
	w.getsAnotherLogin(t, old)
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestARevokedRoleAssignmentIsRestored(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	korc.Unassign(w.cp.Namespace)
	w.pass(t, proofPeriod)
	expect.Eventually(t, "the role", func(context.Context) error {
		if korc.Assigned(w.cp.Namespace) != 1 {
			return errors.New("it is not assigned")
		}
		return nil
	})
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAPlacementPasswordRotationCausesNoOutage(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	old := w.login(t)
	retired := &orcv1alpha1.User{ObjectMeta: w.meta(old.Name)}
	objects.Change(t, w, retired, func(u *orcv1alpha1.User) {
		metav1.SetMetaDataAnnotation(&u.ObjectMeta, c5c3v1alpha1.AnnotationCredentialOverlap, overlap.String())
	})
	w.requestPassword(t)
	w.getsAnotherLogin(t, old)
	w.serviceUsers(t, string(old.Data["username"]), string(w.login(t).Data["username"]))
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	expect.Object(t, w, retired, func() error {
		if retired.Annotations[c5c3v1alpha1.AnnotationSupersededAt] == "" {
			return errors.New("its time has not begun")
		}
		return nil
	})
	w.pass(t, overlap)
	expect.Gone(t, w, retired)
	expect.Gone(t, w, old)
	w.serviceUsers(t, string(w.login(t).Data["username"]))
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestADeletedServiceUserSecretIsReplaced(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	old := w.login(t)
	objects.Delete(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-placement-service-user")})
	w.getsAnotherLogin(t, old)
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAForeignServiceUserSecretIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWithPlacement(t)
	theirs := theirSecret(w.meta("controlplane-placement-service-user"))
	ownedBySomebody(t, theirs)
	objects.Create(t, w, theirs, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "ServiceUserError", "controlplane-placement-service-user", "rename or delete it")
	w.isTheirs(t, theirs)
	objects.Delete(t, w, theirs)
	w.reportPlacement(t, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAForeignPlacementIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWithPlacement(t)
	foreign := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement"), Spec: placementv1alpha1.PlacementSpec{
		ServiceSpec: commonv1.ServiceSpec{
			Image: commonv1.ImageSpec{Repository: "example.com/placement", Tag: "2025.1"},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached"}},
		},
		DataSpec: commonv1.DataSpec{
			Database: commonv1.DatabaseSpec{Host: "db", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "db"}},
		},
		Identity:             commonv1.IdentitySpec{AuthURL: "https://identity.example.com/v3"},
		ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "theirs"},
	}}
	objects.Create(t, w, foreign, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "PlacementError", "already exists and has no controller")
	if got := w.placement(t); got.Spec.Image.Tag != "2025.1" {
		t.Errorf("its image became %v", got.Spec.Image)
	}
}

func TestAPlacementSpecRefusedByTheAPIServerIsReported(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	objects.Change(t, w, w.placement(t), func(p *placementv1alpha1.Placement) {
		p.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 4, TargetCPUUtilization: new(int32(80))}
	})
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Placement.Replicas = new(int32(5)) })
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "PlacementProjectionRejected", "spec.autoscaling.maxReplicas")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Placement.Replicas = new(int32(4)) })
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForPlacement")
}

func TestPlacementIsUpdatedAfterKeystoneAndRefusesALateRollback(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	to := func(release string) {
		objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = release })
	}
	to("2026.1")
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone")
	if tag := w.placement(t).Spec.Image.Tag; tag != "2025.2" {
		t.Errorf("Placement is updated to %s before Keystone is", tag)
	}
	w.report(t, "2026.1", "", true)
	p := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")}
	expect.Object(t, w, p, func() error {
		if p.Spec.Image.Tag != "2026.1" {
			return fmt.Errorf("it has %s", p.Spec.Image.Tag)
		}
		return nil
	})
	objects.ChangeStatus(t, w, p, func(p *placementv1alpha1.Placement) {
		p.Status.TargetRelease, p.Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", ObservedGeneration: p.Generation,
			Message: "the expansion failed; set image.tag back to 2025.2 to abort the upgrade",
		})
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: "DatabaseReady", Status: metav1.ConditionFalse, Reason: "ExpandFailed", ObservedGeneration: p.Generation,
		})
	})
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForPlacement",
		"cannot be set back, because Keystone already has 2026.1; spec.services.placement.image sets the image of Placement alone")
	objects.ChangeStatus(t, w, p, func(p *placementv1alpha1.Placement) { p.Status.UpgradePhase = commonv1.UpgradePhaseContracting })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Placement.Image = &commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"}
	})
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "RollBackRefused", "set spec.services.placement.image.tag to 2026.1")
}

func TestAnUnsetPlacementIsRetainedUnlessItsDeletionIsAllowed(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Placement = nil })
	w.expect(t, "PlacementReady", metav1.ConditionTrue, "PlacementNotManaged", "kept unless the annotation c5c3.io/allow-placement-deletion")
	w.serviceUsers(t, string(w.login(t).Data["username"]))
	w.catalogServices(t, "keystone", "placement")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Annotations = map[string]string{c5c3v1alpha1.AnnotationAllowPlacementDeletion: "true"}
	})
	w.catalogServices(t, "keystone")
	w.expectRegion(t, "RegionOne", 1)
	expect.Gone(t, w, &orcv1alpha1.Service{ObjectMeta: w.meta("controlplane-placement-service")})
	expect.Gone(t, w, &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")})
	expect.Gone(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-placement-service-user")})
	w.pass(t, overlap)
	w.serviceUsers(t)
}

func TestDeletionRemovesTheServiceUserOfPlacement(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	w.delete(t)
	expect.Gone(t, w, w.cp)
	w.serviceUsers(t)
	if n := korc.Assigned(w.cp.Namespace); n != 0 {
		t.Errorf("%d roles are assigned", n)
	}
	expect.Gone(t, w, &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")})
	w.expectEnd(t, "ORCTeardownComplete")
}

func TestPlacementIsDeletedBeforeKeystoneAndNotAwaitedForever(t *testing.T) {
	t.Parallel()
	w := convergedWithPlacement(t)
	p := w.placement(t)
	objects.Change(t, w, p, func(p *placementv1alpha1.Placement) { p.Finalizers = []string{"example.com/operator"} })
	w.delete(t)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "FinalizingPlacement", "Placement controlplane-placement")
	if k := w.keystone(t); !k.DeletionTimestamp.IsZero() {
		t.Error("Keystone goes before Placement")
	}
	w.pass(t, stall)
	expect.Gone(t, w, w.cp)
	expect.Eventually(t, "an event that tells what may be left", func(context.Context) error {
		events := expect.Events(t, w, w.cp)
		if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == "PlacementTeardownStalled" }) {
			return fmt.Errorf("there are %+v", events)
		}
		return nil
	})
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	objects.Change(t, w, p, func(p *placementv1alpha1.Placement) { p.Finalizers = nil })
}
