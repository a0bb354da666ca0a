package service_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheOldestResourceIsTheFirstOne(t *testing.T) {
	if service.OldestOf(nil) != nil {
		t.Error("an empty list has an oldest resource")
	}
	created := func(namespace, name string, second int64) service.Resource {
		return &instance.Harbour{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Unix(second, 0)),
		}}
	}
	list := []service.Resource{created("a", "late", 2), created("b", "a", 1), created("a", "b", 1)}
	if got := service.OldestOf(list); got.GetNamespace() != "a" || got.GetName() != "b" {
		t.Errorf("got %s/%s, want a/b", got.GetNamespace(), got.GetName())
	}
}

func TestADatabaseIsSharedWithThoseThatKeepDataInIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*instance.Harbour)
		want   bool
	}{
		"one that has installed its schema": {func(*instance.Harbour) {}, true},
		"one that waits for the database":   {func(h *instance.Harbour) { h.Status = commonv1.ServiceStatus{} }, false},
		"one with another database":         {func(h *instance.Harbour) { h.Spec.Database.Database = "other" }, false},
		"one that is being deleted": {func(h *instance.Harbour) {
			h.DeletionTimestamp, h.Finalizers = ptr.To(metav1.NewTime(time.Unix(1000, 0))), []string{"test/database"}
		}, false},
	} {
		other := instance.Brownfield()
		other.Namespace, other.Name, other.UID = "elsewhere", "other", types.UID("other-uid")
		other.Status.InstalledRelease = "2025.2"
		c.change(other)
		h := instance.Brownfield()
		h.Status.InstalledRelease = "2025.2"
		pass := instance.Pass(t, h, interceptor.Funcs{}, client.Object(other))
		got, err := service.SharesData(t.Context(), pass)
		if err != nil || got != c.want {
			t.Errorf("%s: got %t and %v, want %t", name, got, err, c.want)
		}
	}
}
