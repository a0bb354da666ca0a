package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestContentHashMatchesTheDocumentedFormat(t *testing.T) {
	// Computed with sha256sum over the records; their order does not matter.
	tests := map[string]struct {
		data map[string]string
		want string
	}{
		"nothing":     {nil, "e3b0c442"},
		"two entries": {map[string]string{"b": "2", "a": "one"}, "64109a69"},
		"UTF-8 bytes": {map[string]string{"k": "ä"}, "6fcad90a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ContentHash(tc.data); got != tc.want {
				t.Errorf("got %s, expected %s", got, tc.want)
			}
		})
	}
}

func TestContentHashSeparatesKeysFromValues(t *testing.T) {
	seen := map[string]map[string]string{}
	for _, data := range []map[string]string{
		{"ab": "c"}, {"a": "bc"}, {"abc": ""}, {"": "abc"}, {"a": "b", "c": ""}, {"a=1:b\n1:c": ""}, {"a": "b\n1:c=0:"},
	} {
		hash := ContentHash(data)
		if other, ok := seen[hash]; ok {
			t.Errorf("%q and %q share the hash %s", other, data, hash)
		}
		seen[hash] = data
	}
}

func TestBaseLabelValueFitsInALabel(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, base := range []string{"keystone-config", strings.Repeat("x", 63), long, long + "y"} {
		got := BaseLabelValue(base)
		if problems := validation.IsValidLabelValue(got); len(problems) > 0 {
			t.Errorf("%s is no label value: %v", got, problems)
		}
		if len(base) <= 63 && got != base {
			t.Errorf("got %s, expected the base name %s itself", got, base)
		}
	}
	if BaseLabelValue(long) == BaseLabelValue(long+"y") {
		t.Error("expected different values for different base names")
	}
}

func TestTheBuilderSharesNothingWithItsInputs(t *testing.T) {
	labels := map[string]string{"a": "b"}
	data := map[string]string{"k": "v"}

	cm := ImmutableConfigMap(newOwner("1"), testBase, labels, data)
	cm.Labels["a"], cm.Data["k"] = "changed", "changed"

	if diff := cmp.Diff([]map[string]string{{"a": "b"}, {"k": "v"}}, []map[string]string{labels, data}); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

func TestAnAbsentConfigMapIsCreatedWithOneRequest(t *testing.T) {
	c := newCluster()

	name, err := c.create(t, newOwner("1"))
	if err != nil {
		t.Fatal(err)
	}
	want := existing("Deployment", "keystone", "1")
	want.UID = ""
	got := c.get(t, name)
	got.ResourceVersion = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ConfigMap (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"create"}, c.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAConfigMapInTheCacheCostsNoRequest(t *testing.T) {
	present := existing("Deployment", "keystone", "1")
	for _, condensed := range []bool{false, true} {
		c := newCluster(present.DeepCopy())
		c.condensed = condensed

		name, err := c.create(t, newOwner("1"))
		if err != nil {
			t.Fatal(err)
		}
		if name != present.Name || c.requests != nil {
			t.Errorf("condensed %t: got name %s after %q, expected %s without a request", condensed, name, c.requests, present.Name)
		}
	}
}

func TestEveryCachedConfigMapIsCondensed(t *testing.T) {
	ours := existing("Deployment", "keystone", "1")
	mutable, theirs := ours.DeepCopy(), ours.DeepCopy()
	mutable.Immutable, theirs.Labels = nil, nil
	large := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "large", Annotations: map[string]string{"note": strings.Repeat("x", 256<<10)}},
		Data:       map[string]string{"text": strings.Repeat("x", 256<<10)},
		BinaryData: map[string][]byte{"bytes": make([]byte, 256<<10)},
	}
	for what, configMap := range map[string]*corev1.ConfigMap{"ours": ours, "mutable": mutable, "without the label": theirs, "large": large} {
		Condense(configMap)
		if size := configMap.Size(); size > 1024 {
			t.Errorf("%s: %d bytes are left", what, size)
		}
		for key := range configMap.Data {
			if len(validation.IsConfigMapKey(key)) == 0 {
				t.Errorf("%s: the cache holds the key %s, want a digest at a key that no ConfigMap can have", what, key)
			}
		}
	}
}

func TestANameCollisionIsResolvedByTheOwnerOfTheExistingConfigMap(t *testing.T) {
	ours := existing("Deployment", "keystone", "1")
	predecessors := existing("Deployment", "keystone", "0")
	edited := existing("Deployment", "keystone", "1")
	edited.Data = map[string]string{"keystone.conf": "[token]\nprovider = jws\n"}
	mutable := existing("Deployment", "keystone", "1")
	mutable.Immutable = nil
	unlabelled := existing("Deployment", "keystone", "1")
	unlabelled.Labels = map[string]string{"by": "user"}

	tests := map[string]struct {
		present      *corev1.ConfigMap
		cacheIsEmpty bool
		want         []string
	}{
		"ours, not yet in the cache": {ours, true, []string{"create", "live get"}},
		"of a re-created owner":      {predecessors, false, []string{"create", "live get", "delete " + ours.Name, "create"}},
		"of a re-created owner, not yet in the cache": {
			predecessors, true, []string{"create", "live get", "delete " + ours.Name, "create"},
		},
		"ours, replaced with other data": {edited, false, []string{"create", "live get", "delete " + ours.Name, "create"}},
		"ours, replaced as mutable":      {mutable, false, []string{"create", "live get", "delete " + ours.Name, "create"}},
		"ours, without labels":           {unlabelled, false, []string{"patch"}},
		"ours, without labels and thus not in the cache": {
			unlabelled, true, []string{"create", "live get", "patch"},
		},
	}
	for name, tc := range tests {
		for _, condensed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, condensed %t", name, condensed), func(t *testing.T) {
				c := newCluster(tc.present.DeepCopy())
				c.cacheIsEmpty, c.condensed = tc.cacheIsEmpty, condensed

				got, err := c.create(t, newOwner("1"))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, c.requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				c.expectOurs(t, got)
			})
		}
	}
}

func (c *cluster) expectOurs(t *testing.T, name string) {
	t.Helper()
	want, got := existing("Deployment", "keystone", "1"), c.get(t, name)
	if diff := cmp.Diff(want.OwnerReferences, got.OwnerReferences); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Data, got.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if got.Immutable == nil || !*got.Immutable {
		t.Error("expected the ConfigMap to be immutable")
	}
	for label, value := range want.Labels {
		if got.Labels[label] != value {
			t.Errorf("got label %s=%q, expected %q", label, got.Labels[label], value)
		}
	}
}

func TestALabelOfTheUserStaysWhenOursAreRestored(t *testing.T) {
	present := existing("Deployment", "keystone", "1")
	present.Labels = map[string]string{"by": "user"}
	c := newCluster(present)

	name, err := c.create(t, newOwner("1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.get(t, name).Labels["by"]; got != "user" {
		t.Errorf("got label by=%q, expected it to stay", got)
	}
}

func TestAForeignConfigMapIsRefusedAndNotChanged(t *testing.T) {
	orphan := existing("Deployment", "keystone", "1")
	orphan.OwnerReferences = nil
	orphan.Labels = nil
	otherGroup := existing("Deployment", "keystone", "2")
	otherGroup.OwnerReferences[0].APIVersion = "example.org/v1"
	tests := map[string]struct {
		present *corev1.ConfigMap
		want    string
	}{
		"another name":  {existing("Deployment", "glance", "2"), "controlled by Deployment glance"},
		"another kind":  {existing("StatefulSet", "keystone", "2"), "controlled by StatefulSet keystone"},
		"another group": {otherGroup, "controlled by Deployment keystone"},
		"nobody":        {orphan, "controlled by nobody"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(tc.present.DeepCopy())

			_, err := c.create(t, newOwner("1"))
			if err == nil {
				t.Fatal("expected an error")
			}
			for _, want := range []string{testNamespace + "/" + tc.present.Name, tc.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %q, expected it to contain %q", err, want)
				}
			}
			if diff := cmp.Diff(tc.present.OwnerReferences, c.get(t, tc.present.Name).OwnerReferences); diff != "" {
				t.Errorf("owners changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALostOwnerReferenceIsPutBack(t *testing.T) {
	lost := existing("Deployment", "keystone", "1")
	lost.OwnerReferences = nil
	c := newCluster(lost)
	if _, err := c.create(t, newOwner("1")); err != nil {
		t.Fatal(err)
	}
	if got := c.get(t, lost.Name); !metav1.IsControlledBy(got, newOwner("1")) || got.UID != lost.UID {
		t.Errorf("owners %v of object %s, expected the same object with its owner again", got.OwnerReferences, got.UID)
	}
}

func TestAFailedRequestIsReportedAndTheNextPassConverges(t *testing.T) {
	predecessors := existing("Deployment", "keystone", "0")
	unlabelled := existing("Deployment", "keystone", "1")
	unlabelled.Labels = nil
	tests := map[string]struct {
		present *corev1.ConfigMap
		failing string
	}{
		"reading the cache":                {predecessors, "cached get"},
		"creating":                         {predecessors, "create"},
		"reading live":                     {predecessors, "live get"},
		"deleting the predecessor's":       {predecessors, "delete " + predecessors.Name},
		"restoring labels of what is ours": {unlabelled, "patch"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(tc.present.DeepCopy())
			c.failing = tc.failing

			if _, err := c.create(t, newOwner("1")); !errors.Is(err, errUnavailable) {
				t.Fatalf("got error %v, expected %v", err, errUnavailable)
			}
			c.failing = ""
			got, err := c.create(t, newOwner("1"))
			if err != nil {
				t.Fatal(err)
			}
			c.expectOurs(t, got)
		})
	}
}

func TestAnOwnerInAnotherNamespaceIsRefused(t *testing.T) {
	c := newCluster()
	owner := newOwner("1")
	owner.Namespace = "elsewhere"

	if _, err := c.create(t, owner); err == nil || c.requests != nil {
		t.Errorf("got error %v after %q, expected an error without a request", err, c.requests)
	}
}
