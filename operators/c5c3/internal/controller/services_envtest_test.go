//go:build integration

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// furtherServices are those that follow Keystone.
var furtherServices = services.All[1:]

// dataServices are those of them that have a database, and a user in Keystone.
var dataServices = slices.DeleteFunc(slices.Clone(furtherServices), func(svc services.Service) bool { return svc.Database == nil })

// nameOf returns the name of a service, which is also its field in spec.services.
func nameOf(svc services.Service) string { return strings.ToLower(svc.Kind.Kind) }

// edit sets fields in the part of the control plane's spec about a service, given as JSON: {} adds
// the service, null removes it.
func edit(cp *c5c3v1alpha1.ControlPlane, svc services.Service, fields string) {
	if err := json.Unmarshal(fmt.Appendf(nil, `{"services":{%q:%s}}`, nameOf(svc), fields), &cp.Spec); err != nil {
		panic(err)
	}
}

// placement adds a Placement to a control plane.
func placement(cp *c5c3v1alpha1.ControlPlane) { edit(cp, services.Placement, "{}") }

// change sets fields of several services as [edit] does.
func (w *world) change(t *testing.T, all services.List, fields string) {
	t.Helper()
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		for _, svc := range all {
			edit(cp, svc, fields)
		}
	})
}

// seedService stores the credentials for the service's database.
func (w *world) seedService(svc services.Service) {
	secrets.Put("openstack/"+nameOf(svc)+"/"+w.cp.Namespace+"/controlplane/db", map[string]string{"username": nameOf(svc), "password": "p"})
}

// emptyWith is a control plane with further services that is not created yet.
func emptyWith(t *testing.T, further ...services.Service) *world {
	t.Helper()
	w := emptyWorld(t)
	w.seed()
	for _, svc := range further {
		w.seedService(svc)
		edit(w.cp, svc, "{}")
	}
	return w
}

// begunWith is a control plane with further services whose Keystone is ready.
func begunWith(t *testing.T, further ...services.Service) *world {
	t.Helper()
	w := emptyWith(t, further...)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	return w
}

func convergedWith(t *testing.T, further ...services.Service) *world {
	t.Helper()
	w := begunWith(t, further...)
	w.reportAll(t, further)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	return w
}

// resource waits for the resource of a service and returns it.
func (w *world) resource(t *testing.T, svc services.Service) serviceResource {
	t.Helper()
	resource := w.named(svc)
	expect.Exists(t, w, resource)
	return resource
}

// named returns an empty resource with the name that the service's has.
func (w *world) named(svc services.Service) serviceResource {
	resource := svc.Empty().(serviceResource)
	resource.SetNamespace(w.cp.Namespace)
	resource.SetName("controlplane-" + nameOf(svc))
	return resource
}

// reportService simulates the service's operator, which has observed the current spec.
func (w *world) reportService(t *testing.T, svc services.Service, installed string, ready bool) {
	t.Helper()
	objects.ChangeStatus(t, w, w.resource(t, svc), func(r serviceResource) {
		condition, status := metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", Message: "pods are starting",
			ObservedGeneration: r.GetGeneration(), LastTransitionTime: metav1.Now(),
		}, r.ServiceStatus()
		status.InstalledRelease = installed
		if ready {
			status.TargetRelease, status.UpgradePhase = "", ""
			condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "AllReady", "All sub-resources are ready"
		}
		r.SetConditions([]metav1.Condition{condition})
	})
}

// reportAll makes services ready with the first release.
func (w *world) reportAll(t *testing.T, all services.List) {
	t.Helper()
	for _, svc := range all {
		w.reportService(t, svc, "2025.2", true)
	}
}

// expectEach waits for the condition of each service. KIND in the reason stands for its kind.
func (w *world) expectEach(t *testing.T, all services.List, status metav1.ConditionStatus, reason string, says ...string) {
	t.Helper()
	for _, svc := range all {
		w.expect(t, svc.Kind.Kind+"Ready", status, strings.ReplaceAll(reason, "KIND", svc.Kind.Kind), says...)
	}
}

// login returns the Secret with the user that the service has in Keystone.
func (w *world) login(t *testing.T, svc services.Service) *corev1.Secret {
	t.Helper()
	user := w.resource(t, svc).(commonv1.ServiceUserDescriber).ServiceUser()
	secret := &corev1.Secret{ObjectMeta: w.meta(user.SecretRef.Name)}
	expect.Exists(t, w, secret)
	return secret
}

// getsAnotherLogin waits until the service has another user.
func (w *world) getsAnotherLogin(t *testing.T, svc services.Service, old *corev1.Secret) {
	t.Helper()
	resource := w.named(svc)
	expect.Object(t, w, resource, func() error {
		if resource.(commonv1.ServiceUserDescriber).ServiceUser().SecretRef.Name == old.Name {
			return errors.New("it has the old user")
		}
		return nil
	})
}

func TestEveryServiceFollowsItsControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, furtherServices...)
	objects.Create(t, w, w.cp)
	w.expectEach(t, furtherServices, metav1.ConditionFalse, "WaitingForKeystone", "Waiting for KeystoneReady")
	w.report(t, "2025.2", "", true)
	for _, svc := range furtherServices {
		resource := w.resource(t, svc)
		if !metav1.IsControlledBy(resource, w.cp) {
			t.Errorf("%s belongs to %v", svc.Kind.Kind, resource.GetOwnerReferences())
		}
		w.expectEach(t, services.List{svc}, metav1.ConditionFalse, "WaitingForKIND",
			"has not processed "+svc.Kind.Kind+" controlplane-"+nameOf(svc)+" yet")
		w.reportService(t, svc, "", false)
		w.expectEach(t, services.List{svc}, metav1.ConditionFalse, "WaitingForKIND", "is not ready: pods are starting")
		w.reportService(t, svc, "2025.2", true)
		w.expectEach(t, services.List{svc}, metav1.ConditionTrue, "KINDReady")
	}
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	var want []c5c3v1alpha1.ServiceStatus
	for _, svc := range services.All {
		want = append(want, c5c3v1alpha1.ServiceStatus{Name: nameOf(svc), Ready: true, Release: "2025.2"})
	}
	if diff := cmp.Diff(want, w.cp.Status.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
}

func TestEveryServiceWithADatabaseGetsItAndAUserAndAnEntryInTheCatalog(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, dataServices...)
	catalog, users := []string{"keystone"}, []string{}
	for _, svc := range dataServices {
		database := w.resource(t, svc).(commonv1.DataDescriber).DataSpec().Database
		if database.ClusterRef.Name != "openstack-db" || database.Database != nameOf(svc) ||
			database.SecretRef.Name != "controlplane-"+nameOf(svc)+"-db-credentials" {
			t.Errorf("the database of %s is %+v", svc.Kind.Kind, database)
		}
		users = append(users, string(w.login(t, svc).Data["username"]))
		catalog = append(catalog, nameOf(svc))
		w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered",
			svc.Kind.Kind+" at http://controlplane-"+nameOf(svc)+"."+w.cp.Namespace+".svc.cluster.local:")
	}
	w.serviceUsers(t, users...)
	if n := korc.Assigned(w.cp.Namespace); n != len(dataServices) {
		t.Errorf("%d roles are assigned", n)
	}
	slices.Sort(catalog)
	w.catalogServices(t, catalog...)
}

func TestEveryServiceWaitsUntilItsUserIsVerified(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, dataServices...)
	lift := w.refuse(t, "apply", "projects", "controlplane-project-"+shortHash("Project/service"))
	unreachable.Store(w.cp.Namespace, true)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expectEach(t, dataServices, metav1.ConditionFalse, "WaitingForServiceUser", "project service", "KORCReady says why")
	lift()
	w.expectEach(t, dataServices, metav1.ConditionFalse, "ServiceUserUnproven", "no route to host", "let the operator reach")
	for _, svc := range dataServices {
		expect.Gone(t, w, w.named(svc))
	}
	unreachable.Delete(w.cp.Namespace)
	w.reportAll(t, dataServices)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAServiceUserWithAForeignPasswordChangeIsReplaced(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, dataServices...)
	old := map[string]*corev1.Secret{}
	for _, svc := range dataServices {
		login := w.login(t, svc)
		korc.SetPassword(w.cp.Namespace, korc.Names(w.cp.Namespace, "User")[string(login.Data["username"])], "theirs")
		old[nameOf(svc)] = login
	}
	follows := map[string]*expect.Changes{}
	for _, svc := range dataServices {
		follows[nameOf(svc)] = w.follow(t)
	}
	w.pass(t, proofPeriod)
	for _, svc := range dataServices {
		follows[nameOf(svc)].Condition(t, svc.Kind.Kind+"Ready", metav1.ConditionFalse, "ServiceUserRejected",
			"refuses the user "+string(old[nameOf(svc)].Data["username"]))
		w.getsAnotherLogin(t, svc, old[nameOf(svc)])
	}
	w.reportAll(t, dataServices)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAForeignServiceUserSecretIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, dataServices...)
	foreign := map[string]client.Object{}
	for _, svc := range dataServices {
		theirs := theirSecret(w.meta("controlplane-" + nameOf(svc) + "-service-user"))
		ownedBySomebody(t, theirs)
		objects.Create(t, w, theirs)
		foreign[nameOf(svc)] = theirs
	}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	for _, svc := range dataServices {
		theirs := foreign[nameOf(svc)]
		w.expectEach(t, services.List{svc}, metav1.ConditionFalse, "ServiceUserError", theirs.GetName(), "rename or delete it")
		w.isTheirs(t, theirs)
		objects.Delete(t, w, theirs)
	}
	w.reportAll(t, dataServices)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAForeignServiceResourceIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, furtherServices...)
	const spec = `{"spec":{"image":{"repository":"example.com/theirs","tag":"2025.1"},"cache":{"servers":["memcached"]},
		"database":{"host":"db","database":"theirs","secretRef":{"name":"db"}},
		"identity":{"authURL":"https://identity.example.com/v3"},"serviceUserSecretRef":{"name":"theirs"}}}`
	for _, svc := range furtherServices {
		foreign := w.named(svc)
		if err := json.Unmarshal([]byte(spec), foreign); err != nil {
			t.Fatal(err)
		}
		objects.Create(t, w, foreign)
	}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expectEach(t, furtherServices, metav1.ConditionFalse, "KINDError", "already exists and has no controller")
	for _, svc := range furtherServices {
		if tag := w.resource(t, svc).ServiceSpec().Image.Tag; tag != "2025.1" {
			t.Errorf("the image of %s became %s", svc.Kind.Kind, tag)
		}
	}
}

func TestAServiceSpecRefusedByTheAPIServerIsReported(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, furtherServices...)
	for _, svc := range furtherServices {
		objects.Change(t, w, w.resource(t, svc), func(r serviceResource) {
			r.ServiceSpec().Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 4, TargetCPUUtilization: new(int32(80))}
		})
	}
	w.change(t, furtherServices, `{"replicas":5}`)
	w.expectEach(t, furtherServices, metav1.ConditionFalse, "KINDProjectionRejected", "spec.autoscaling.maxReplicas")
	w.change(t, furtherServices, `{"replicas":4}`)
	w.expectEach(t, furtherServices, metav1.ConditionFalse, "WaitingForKIND")
}

func TestALateRollbackOfAServiceIsReported(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, dataServices...)
	for _, svc := range dataServices {
		objects.ChangeStatus(t, w, w.resource(t, svc), func(r serviceResource) {
			status := r.ServiceStatus()
			status.TargetRelease, status.UpgradePhase = "2026.1", commonv1.UpgradePhaseContracting
			conditions := r.GetConditions()
			meta.SetStatusCondition(&conditions, metav1.Condition{
				Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", ObservedGeneration: r.GetGeneration(),
			})
			r.SetConditions(conditions)
		})
		w.expectEach(t, services.List{svc}, metav1.ConditionFalse, "RollBackRefused", "set spec.openStackRelease to 2026.1")
	}
}

func TestAnUnsetServiceIsKeptWithItsDataUnlessItsDeletionIsAllowed(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, furtherServices...)
	w.change(t, furtherServices, "null")
	catalog, users := []string{"keystone"}, []string{}
	for _, svc := range dataServices {
		w.expectEach(t, services.List{svc}, metav1.ConditionTrue, "KINDNotManaged",
			"kept unless the annotation c5c3.io/allow-"+nameOf(svc)+"-deletion")
		catalog, users = append(catalog, nameOf(svc)), append(users, string(w.login(t, svc).Data["username"]))
	}
	slices.Sort(catalog)
	w.catalogServices(t, catalog...)
	w.serviceUsers(t, users...)
	w.expect(t, "HorizonReady", metav1.ConditionTrue, "HorizonNotManaged")
	expect.Gone(t, w, w.named(services.Horizon))
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		for _, svc := range dataServices {
			metav1.SetMetaDataAnnotation(&cp.ObjectMeta, "c5c3.io/allow-"+nameOf(svc)+"-deletion", "true")
		}
	})
	w.catalogServices(t, "keystone")
	w.expectRegion(t, "RegionOne", 1)
	for _, svc := range dataServices {
		expect.Gone(t, w, w.named(svc))
		expect.Gone(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-" + nameOf(svc) + "-service-user")})
		expect.Gone(t, w, &orcv1alpha1.Service{ObjectMeta: w.meta("controlplane-" + nameOf(svc) + "-service")})
	}
	w.pass(t, overlap)
	w.serviceUsers(t)
}

func TestServicesAreDeletedBeforeKeystoneAndNotAwaitedForever(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, dataServices...)
	for _, svc := range dataServices {
		objects.Change(t, w, w.resource(t, svc), func(r serviceResource) { r.SetFinalizers([]string{"example.com/operator"}) })
	}
	changes := w.follow(t)
	w.delete(t)
	last := dataServices[len(dataServices)-1]
	w.expectEach(t, services.List{last}, metav1.ConditionFalse, "FinalizingKIND")
	if k := w.keystone(t); !k.DeletionTimestamp.IsZero() {
		t.Errorf("Keystone goes before %s", last.Kind.Kind)
	}
	w.pass(t, stall)
	for _, svc := range slices.Backward(dataServices) {
		changes.Condition(t, svc.Kind.Kind+"Ready", metav1.ConditionFalse, "Finalizing"+svc.Kind.Kind, svc.Kind.Kind+" controlplane-"+nameOf(svc))
	}
	expect.Gone(t, w, w.cp)
	for _, svc := range dataServices {
		expect.Eventually(t, "an event that tells what may be left", func(context.Context) error {
			events := expect.Events(t, w, w.cp)
			if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == svc.Kind.Kind+"TeardownStalled" }) {
				return fmt.Errorf("there are %+v", events)
			}
			return nil
		})
		objects.Change(t, w, w.resource(t, svc), func(r serviceResource) { r.SetFinalizers(nil) })
	}
}
