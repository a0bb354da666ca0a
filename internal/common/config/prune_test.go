package config

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// aged returns a ConfigMap of the owner with UID 1, created the given number of
// hours ago.
func aged(name string, hours int) *corev1.ConfigMap {
	cm := existing("Deployment", "keystone", "1")
	cm.Name = name
	cm.UID = "uid-of-" + cm.UID
	cm.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC).
		Add(-time.Duration(hours) * time.Hour))
	return cm
}

func history(count int) []client.Object {
	objects := make([]client.Object, 0, count)
	for age := range count {
		objects = append(objects, aged(fmt.Sprintf("%s-%08d", testBase, age), age))
	}
	return objects
}

func (c *cluster) prune(t *testing.T, current string, retain int) error {
	t.Helper()
	return PruneImmutableConfigMaps(
		t.Context(), c.client(), newOwner("1"), testBase, testNamespace, current, retain)
}

func TestPruneKeepsTheCurrentAndTheNewest(t *testing.T) {
	tests := map[string]struct {
		current string
		retain  int
		want    []string
	}{
		"newest is current": {
			"keystone-config-00000000", 2,
			[]string{"keystone-config-00000000", "keystone-config-00000001", "keystone-config-00000002"},
		},
		"oldest is current": {
			"keystone-config-00000005", 2,
			[]string{"keystone-config-00000000", "keystone-config-00000001", "keystone-config-00000005"},
		},
		"no history":       {"keystone-config-00000003", 0, []string{"keystone-config-00000003"}},
		"negative history": {"keystone-config-00000003", -1, []string{"keystone-config-00000003"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(history(6)...)
			for range 2 {
				if err := c.prune(t, tc.current, tc.retain); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, c.names(t)); diff != "" {
				t.Errorf("ConfigMaps left (-want +got):\n%s", diff)
			}
			if len(c.requests) != 6-len(tc.want) {
				t.Errorf("got requests %q, expected one per deletion", c.requests)
			}
		})
	}
}

func TestPruneSendsNoRequestWhenNothingIsStale(t *testing.T) {
	c := newCluster(history(4)...)
	if err := c.prune(t, "keystone-config-00000000", 3); err != nil {
		t.Fatal(err)
	}
	if c.requests != nil {
		t.Errorf("got requests %q, expected none", c.requests)
	}
}

func TestObjectsOfTheSameSecondAreOrderedByResourceVersion(t *testing.T) {
	first, second := aged("z", 1), aged("a", 1)
	first.ResourceVersion, second.ResourceVersion = "9", "10"
	if newestFirst(second, first) >= 0 || newestFirst(first, second) <= 0 {
		t.Error("the one written first is taken for the newest")
	}
	if second.ResourceVersion = "9"; newestFirst(second, first) >= 0 {
		t.Error("the name does not decide")
	}
}

func TestPruneOrdersByNameWithinTheSameSecond(t *testing.T) {
	c := newCluster(aged(testBase+"-c", 1), aged(testBase+"-a", 1), aged(testBase+"-b", 1), aged(testBase+"-now", 0))
	if err := c.prune(t, testBase+"-now", 1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{testBase + "-a", testBase + "-now"}, c.names(t)); diff != "" {
		t.Errorf("ConfigMaps left (-want +got):\n%s", diff)
	}
}

func TestPruneKeepsForeignAndUnrelatedConfigMaps(t *testing.T) {
	unlabelled := aged(testBase+"-unlabelled", 9)
	unlabelled.Labels = nil
	otherOwner := aged(testBase+"-other-owner", 9)
	otherOwner.OwnerReferences[0].UID = "2"
	noOwner := aged(testBase+"-no-owner", 9)
	noOwner.OwnerReferences = nil
	otherPrefix := aged("glance-config-0", 9)
	otherNamespace := aged(testBase+"-other-namespace", 9)
	otherNamespace.Namespace = "elsewhere"
	otherBase := aged(testBase+"-extra-0", 9)
	otherBase.Labels[BaseLabel] = testBase + "-extra"
	terminating := aged(testBase+"-terminating", 9)
	terminating.Finalizers = []string{"example.org/hold"}
	terminating.DeletionTimestamp = &terminating.CreationTimestamp

	c := newCluster(unlabelled, otherOwner, noOwner, otherPrefix, otherNamespace, otherBase, terminating)
	if err := c.prune(t, testBase+"-now", 0); err != nil {
		t.Fatal(err)
	}
	if c.requests != nil {
		t.Errorf("got requests %q, expected none", c.requests)
	}
}

func TestPruneGoesOnWhenAConfigMapHasVanished(t *testing.T) {
	c := newCluster(history(3)...)
	c.failing = "delete keystone-config-00000001"
	c.failure = apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "keystone-config-00000001")

	if err := c.prune(t, "keystone-config-00000000", 0); err != nil {
		t.Fatal(err)
	}
	want := []string{"delete keystone-config-00000001", "delete keystone-config-00000002"}
	if diff := cmp.Diff(want, c.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestPruneReportsAFailedRequestAndCanBeRepeated(t *testing.T) {
	for _, failing := range []string{"cached list", "delete keystone-config-00000002"} {
		t.Run(failing, func(t *testing.T) {
			c := newCluster(history(4)...)
			c.failing = failing
			if err := c.prune(t, "keystone-config-00000000", 0); !errors.Is(err, errUnavailable) {
				t.Fatalf("got error %v, expected %v", err, errUnavailable)
			}
			c.failing = ""
			if err := c.prune(t, "keystone-config-00000000", 0); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"keystone-config-00000000"}, c.names(t)); diff != "" {
				t.Errorf("ConfigMaps left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPruneOfSecretsKeepsForeignSecretsAndConfigMaps(t *testing.T) {
	owner := newOwner("1")
	stored := func(obj client.Object, name string, by types.UID) client.Object {
		obj.SetName(name)
		obj.SetNamespace(testNamespace)
		obj.SetUID(types.UID(name))
		obj.SetLabels(map[string]string{BaseLabel: testBase})
		obj.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "Deployment", Name: owner.Name, UID: by, Controller: ptr.To(true),
		}})
		return obj
	}
	c := newCluster(
		stored(&corev1.ConfigMap{}, testBase+"-1", "1"),
		stored(&corev1.Secret{}, testBase+"-1", "1"), stored(&corev1.Secret{}, testBase+"-2", "1"),
		stored(&corev1.Secret{}, testBase+"-3", "other"), stored(&corev1.Secret{}, "another", "1"),
	)
	if err := PruneImmutableSecrets(t.Context(), c.client(), owner, testBase, testNamespace, testBase+"-2", 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"delete " + testBase + "-1"}, c.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{testBase + "-1"}, c.names(t)); diff != "" {
		t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
}
