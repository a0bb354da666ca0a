package apiservice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// declared is the controller of a service that adds one kind and one Secret to the common
// ones.
func declared() Controller[*instance.Harbour, struct{}] {
	return Controller[*instance.Harbour, struct{}]{
		Definition: &instance.Definition, AddToScheme: instance.AddToScheme,
		For: &instance.Harbour{}, List: &instance.HarbourList{},
		SecretRefs: func(*instance.Harbour) []string { return []string{"harbour-master"} },
		Kinds:      []controller.Kind{{Object: &batchv1.CronJob{}}},
	}
}

func TestTheSchemeKnowsEveryDeclaredKind(t *testing.T) {
	c := declared()
	scheme := c.Scheme()
	for _, kind := range c.Watched() {
		if _, err := apiutil.GVKForObject(kind.Object, scheme); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryKindIsDeclaredOnce(t *testing.T) {
	c := declared()
	scheme, seen := c.Scheme(), map[string]bool{}
	for _, kind := range c.declaration(cluster.Settings{}).Kinds {
		gvk, err := apiutil.GVKForObject(kind.Object, scheme)
		if err != nil || seen[gvk.String()] {
			t.Errorf("%T is declared again, or %v", kind.Object, err)
		}
		seen[gvk.String()] = true
	}
}

func TestEveryReferencedObjectIsIndexedToItsResource(t *testing.T) {
	h := instance.Brownfield()
	h.Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"}
	h.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{
		CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"},
	}
	h.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "options"}
	h.Spec.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}}
	h.Spec.ExtraVolumes = []commonv1.ExtraVolume{
		{Name: "a", ConfigMap: &commonv1.VolumeFiles{Name: "corporate-ca"}}, {Name: "b", Secret: &commonv1.VolumeFiles{Name: "token"}},
	}
	indexes := declared().declaration(cluster.Settings{}).Indexes
	for _, c := range []struct {
		resource *instance.Harbour
		want     map[string][]string
	}{
		{h, map[string][]string{
			indexSecret:           {"ca", "client", "harbour-db", "harbour-db-connection", "harbour-master", "options", "token"},
			indexConfigMap:        {"corporate-ca", "policy"},
			indexMariaDB:          {"mariadb"},
			service.IndexDatabase: {"mariadb.openstack/harbour"},
		}},
		{instance.Brownfield(), map[string][]string{
			indexSecret:           {"harbour-db", "harbour-db-connection", "harbour-master"},
			indexConfigMap:        nil,
			indexMariaDB:          nil,
			service.IndexDatabase: {"db.example.com/harbour"},
		}},
	} {
		got := map[string][]string{}
		for field, names := range indexes {
			got[field] = slices.Sorted(slices.Values(names(c.resource)))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestTheServiceUserSecretIsIndexedToItsResource(t *testing.T) {
	got := Controller[*instance.Lighthouse, struct{}]{}.secretRefs(instance.WithUser())
	if !slices.Contains(got, "harbour-user") {
		t.Errorf("got %v", got)
	}
}

func TestOnlyTheOldestResourceMayUseASharedDatabase(t *testing.T) {
	other := func(second int64) *instance.Harbour {
		h := instance.Brownfield()
		h.Namespace, h.Name, h.UID, h.Status.InstalledRelease = "elsewhere", "other", types.UID("other-uid"), "2025.2"
		h.CreationTimestamp = metav1.NewTime(time.Unix(second, 0))
		return h
	}
	for name, c := range map[string]struct {
		others  []client.Object
		refused bool
	}{
		"alone":               {nil, false},
		"beside a younger":    {[]client.Object{other(2_000_000)}, false},
		"beside an older one": {[]client.Object{other(1_000)}, true},
	} {
		h := instance.Brownfield()
		h.CreationTimestamp, h.Status.InstalledRelease = metav1.NewTime(time.Unix(1_000_000, 0)), "2025.2"
		got, err := refuseSharer(t.Context(), instance.Pass(t, h, interceptor.Funcs{}, c.others...))
		var want reconcile.Refusal
		if c.refused {
			want = reconcile.Refusal{Reason: vocabulary.ReasonDatabaseInUse, Message: "Harbour other of namespace elsewhere " +
				"has the database harbour; give this one another database or delete it"}
		}
		if got != want || err != nil {
			t.Errorf("%s: got %+v and %v, want %+v", name, got, err, want)
		}
	}
}

func TestAFailedListOfDatabaseUsersIsAnError(t *testing.T) {
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	p.Client = interceptor.NewClient(p.Client.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the cache is not started")
		},
	})
	_, err := refuseSharer(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "listing the Harbours with database harbour: the cache is not started") {
		t.Errorf("got %v", err)
	}
}

func TestADatabaseIsReleasedOnlyByADatabaseChangeOrADeletion(t *testing.T) {
	changes := databaseChanges[*instance.Harbour](cluster.Settings{})
	h, moved, other := instance.Brownfield(), instance.Brownfield(), instance.Brownfield()
	moved.Spec.Database.Host = "other.example.com"
	other.Spec.Replicas++
	if changes.Create(event.CreateEvent{Object: h}) || changes.Generic(event.GenericEvent{Object: h}) ||
		changes.Update(event.UpdateEvent{ObjectOld: h, ObjectNew: other}) {
		t.Error("an event that lets go of no database counts")
	}
	if !changes.Update(event.UpdateEvent{ObjectOld: h, ObjectNew: moved}) || !changes.Delete(event.DeleteEvent{Object: h}) {
		t.Error("an event that lets go of a database does not count")
	}
}

func TestAnObjectIsMappedToTheResourceInItsInstanceLabel(t *testing.T) {
	every := labelled(func(client.Object) bool { return true })(nil)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Labels: instance.Definition.Labels("harbour")}}
	if got := every(t.Context(), pod); len(got) != 1 || got[0].String() != "openstack/harbour" {
		t.Errorf("got %v", got)
	}
	if got := every(t.Context(), &corev1.Pod{}); got != nil {
		t.Errorf("a pod of nobody leads to %v", got)
	}
}

func TestOnlyObjectsWithoutAWatchedOwnerAreMappedByLabel(t *testing.T) {
	controlled := func(kind string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: ptr.To(true)}}}}
	}
	for name, c := range map[string]struct{ got, want bool }{
		"a Job of a CronJob":   {ofCronJob(controlled("CronJob")), true},
		"a Job of a resource":  {ofCronJob(controlled("Harbour")), false},
		"a Job of nobody":      {ofCronJob(&batchv1.Job{}), false},
		"an object of nobody":  {unowned(&batchv1.Job{}), true},
		"an object of anybody": {unowned(controlled("Harbour")), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %t", name, c.got)
		}
	}
}

func TestOnlyObjectsWithoutAControllerLeadToTheResourceOfTheirLabels(t *testing.T) {
	owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Labels: instance.Definition.Labels("harbour")}}
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: "Harbour", Controller: ptr.To(true)}}
	free := owned.DeepCopy()
	free.OwnerReferences = nil
	for secret, want := range map[*corev1.Secret]int{owned: 0, free: 1} {
		if got := Unowned(nil)(t.Context(), secret); len(got) != want {
			t.Errorf("a Secret with the owners %v leads to %v", secret.OwnerReferences, got)
		}
	}
}
