package apiservice

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// withoutDatabase is the controller of a service that has neither a database nor options.
func withoutDatabase() Controller[*instance.Buoy, struct{}] {
	return Controller[*instance.Buoy, struct{}]{
		Definition: &instance.Definition, AddToScheme: instance.AddToScheme,
		For: &instance.Buoy{}, List: &instance.BuoyList{},
	}
}

func TestTheControllerOfAServiceWithoutADatabaseWatchesNone(t *testing.T) {
	declared := withoutDatabase().declaration(cluster.Settings{})
	if declared.Preflight != nil {
		t.Error("its resources are compared with others")
	}
	for _, kind := range declared.Kinds {
		if _, other := kind.Object.(*unstructured.Unstructured); other {
			t.Errorf("it watches another service: %v", kind.Object.GetObjectKind().GroupVersionKind())
			continue
		}
		gvk, err := apiutil.GVKForObject(kind.Object, withoutDatabase().Scheme())
		if err != nil || gvk.Group == "k8s.mariadb.com" || gvk.Group == "cert-manager.io" {
			t.Errorf("it watches %s, %v", gvk, err)
		}
	}
	if diff := cmp.Diff([]string{indexConfigMap, indexSecret}, slices.Sorted(maps.Keys(declared.Indexes))); diff != "" {
		t.Errorf("indexes (-want +got):\n%s", diff)
	}
}

func TestAResourceWithoutADatabaseRefersToTheInputsOfItsPodsOnly(t *testing.T) {
	b := instance.WithoutDatabase()
	b.Spec.ExtraVolumes = []commonv1.ExtraVolume{
		{Name: "a", ConfigMap: &commonv1.VolumeFiles{Name: "corporate-ca"}}, {Name: "b", Secret: &commonv1.VolumeFiles{Name: "token"}},
	}
	if got := withoutDatabase().secretRefs(b); !slices.Equal(got, []string{"token"}) {
		t.Errorf("Secrets: %v", got)
	}
	if got := configMapRefs(b); !slices.Equal(got, []string{"corporate-ca"}) {
		t.Errorf("ConfigMaps: %v", got)
	}
}
