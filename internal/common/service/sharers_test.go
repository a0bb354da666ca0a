package service_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func deleted(h *instance.Harbour) {
	h.DeletionTimestamp, h.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{"test/database"}
}

func TestADatabaseIsSharedWithThoseThatKeepDataInIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*instance.Harbour)
		want   bool
	}{
		"one that has installed its schema":            {func(*instance.Harbour) {}, true},
		"one that waits for the database":              {func(h *instance.Harbour) { h.Status = commonv1.ServiceStatus{} }, false},
		"one with another database":                    {func(h *instance.Harbour) { h.Spec.Database.Database = "other" }, false},
		"one that is being deleted and keeps its data": {deleted, true},
		"one that is being deleted with its data": {func(h *instance.Harbour) {
			deleted(h)
			h.Namespace, h.Spec.Database.Host, h.Spec.Database.ClusterRef = "openstack", "", &corev1.LocalObjectReference{Name: "mariadb"}
		}, false},
		"an older one of its namespace that waits for the database": {func(h *instance.Harbour) {
			h.Namespace, h.Name, h.Status = "openstack", "a-harbour", commonv1.ServiceStatus{}
		}, false},
	} {
		other := instance.Brownfield()
		other.Namespace, other.Name, other.UID = "elsewhere", "other", types.UID("other-uid")
		other.Spec.Database.Host = "mariadb-primary.openstack"
		other.Status.InstalledRelease = "2025.2"
		c.change(other)
		h := instance.Brownfield()
		h.Spec.Database.Host = "mariadb.openstack.svc"
		h.Status.InstalledRelease = "2025.2"
		pass := instance.Pass(t, h, interceptor.Funcs{}, client.Object(other))
		got, err := service.SharesData(t.Context(), pass)
		if err != nil || got != c.want {
			t.Errorf("%s: got %t and %v, want %t", name, got, err, c.want)
		}
	}
}

func TestADatabaseIsSharedWithThoseOfOtherKinds(t *testing.T) {
	keystone := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "keystone.openstack.c5c3.io/v1alpha1", "kind": "Keystone",
		"metadata": map[string]any{"namespace": "other", "name": "keystone"},
		"spec":     map[string]any{"database": map[string]any{"host": "db.example.com", "database": "harbour"}},
	}}
	for release, want := range map[string]bool{"": false, "2025.2": true} {
		other := keystone.DeepCopy()
		other.Object["status"] = map[string]any{"installedRelease": release}
		pass := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{}, other)
		got, err := service.SharesData(t.Context(), pass)
		if err != nil || got != want {
			t.Errorf("with a Keystone of release %q: got %t and %v", release, got, err)
		}
		holder, _, err := service.Holder(t.Context(), pass)
		if err != nil || (holder != nil) != want || holder != nil && holder.String() != "Keystone keystone of namespace other" {
			t.Errorf("with a Keystone of release %q: it is that of %v, %v", release, holder, err)
		}
		pass.Kinds = noKinds{}
		if got, err := service.SharesData(t.Context(), pass); got || err != nil {
			t.Errorf("with Keystones that are not installed: got %t and %v", got, err)
		}
	}
}

// noKinds stands for a cluster without any optional kind.
type noKinds struct{}

// Served implements [kube.Kinds].
func (noKinds) Served(schema.GroupVersionKind) bool { return false }
