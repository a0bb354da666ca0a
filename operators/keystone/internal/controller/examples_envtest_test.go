//go:build integration

package controller_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/outside"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

var exampleDirectories = []string{"../../../../docs/examples", "../../config/samples"}

// isForeign reports whether a group belongs to another forge operator, whose definitions
// are not installed in this test's API server.
func isForeign(group string) bool {
	return strings.HasSuffix(group, "c5c3.io") && group != keystonev1alpha1.GroupVersion.Group
}

func TestEveryExampleIsAccepted(t *testing.T) {
	t.Parallel()
	c := env.Client(t, controller.Controller.Scheme())
	keystones := 0
	for _, directory := range exampleDirectories {
		files, err := filepath.Glob(filepath.Join(outside.File(directory), "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				for _, obj := range objectsOf(t, file) {
					if isForeign(obj.GroupVersionKind().Group) {
						continue
					}
					accept(t, c, obj)
					if obj.GetKind() == "Keystone" {
						validate(t, obj)
						keystones++
					}
				}
			})
		}
	}
	if keystones < 4 {
		t.Errorf("there are only %d Keystones among the examples: are they still where the test looks?", keystones)
	}
}

// objectsOf returns the objects in a file of YAML documents.
func objectsOf(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(f))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		obj := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &obj.Object); err != nil {
			t.Fatal(err)
		}
		if len(obj.Object) > 0 {
			objects = append(objects, obj)
		}
	}
}

// accept requires the API server to accept the object unchanged, without unknown fields.
func accept(t *testing.T, c client.Client, obj *unstructured.Unstructured) {
	t.Helper()
	if name := obj.GetNamespace(); name != "" {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), ns)); err != nil {
			t.Fatal(err)
		}
	}
	strict := client.WithFieldValidation(c, client.FieldValidation("Strict"))
	if err := strict.Create(t.Context(), obj.DeepCopy(), client.DryRunAll); err != nil {
		t.Errorf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
}

// validate requires the object to pass the rules of the webhook.
func validate(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	k := &keystonev1alpha1.Keystone{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, k); err != nil {
		t.Fatal(err)
	}
	keystonev1alpha1.SetDefaults(k)
	if errs := keystonev1alpha1.Validate(k); len(errs) > 0 {
		t.Errorf("Keystone %s: %v", k.Name, errs.ToAggregate())
	}
}
