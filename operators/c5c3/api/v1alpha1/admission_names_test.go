//go:build integration

package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *apiServer) testNames(t *testing.T) {
	for plural, want := range map[string][]string{
		"controlplanes": {"Ready", "Release", "Age"}, "credentialrotations": {"Target", "Ready", "Age"}, "secretaggregates": nil,
	} {
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		if err := s.Get(t.Context(), client.ObjectKey{Name: plural + ".c5c3.io"}, crd); err != nil {
			t.Fatal(err)
		}
		categories, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "categories")
		shortNames, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "shortNames")
		if diff := cmp.Diff([]string{"openstack"}, categories); diff != "" || len(shortNames) != 0 {
			t.Errorf("%s: categories %v, short names %v", plural, categories, shortNames)
		}
		if diff := cmp.Diff(want, columns(t, crd)); diff != "" {
			t.Errorf("columns of %s (-want +got):\n%s", plural, diff)
		}
	}
}

func columns(t *testing.T, crd *unstructured.Unstructured) []string {
	t.Helper()
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if len(versions) != 1 {
		t.Fatalf("%d versions", len(versions))
	}
	version, _ := versions[0].(map[string]any)
	printed, _, _ := unstructured.NestedSlice(version, "additionalPrinterColumns")
	var names []string
	for _, column := range printed {
		fields, _ := column.(map[string]any)
		name, _ := fields["name"].(string)
		names = append(names, name)
	}
	return names
}
