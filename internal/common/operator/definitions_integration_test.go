//go:build integration

package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// gadgets returns the definition of a kind with one field in addition to its name.
func gadgets(plural, version, field string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]s.test.c5c3.io
  annotations: {forge.c5c3.io/version: %[2]s}
spec:
  group: test.c5c3.io
  names: {kind: %[1]s, plural: %[1]s}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: {type: object, properties: {%[3]s: {type: string}}}
`, plural, version, field)
}

// applying applies a definition and returns the error.
func applying(t *testing.T, definition string) error {
	t.Helper()
	o := Options{Name: "test-operator", Definitions: fstest.MapFS{"crds/one.yaml": {Data: []byte(definition)}}}
	return Run(t.Context(), o, []string{ApplyDefinitions}, env.Config)
}

// live returns the definition on the API server, and the fields of its kind.
func live(t *testing.T, plural string) (definition *apiextensionsv1.CustomResourceDefinition, fields string) {
	t.Helper()
	definition = &apiextensionsv1.CustomResourceDefinition{}
	if err := definitionsClient(t).Get(t.Context(), client.ObjectKey{Name: plural + ".test.c5c3.io"}, definition); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties {
		names = append(names, name)
	}
	return definition, strings.Join(names, ",")
}

func definitionsClient(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return env.Client(t, scheme)
}

func TestACRDIsCreatedAndUpdatedInPlace(t *testing.T) {
	if err := applying(t, gadgets("widgets", "1.2.0", "old")); err != nil {
		t.Fatal(err)
	}
	created, _ := live(t, "widgets")
	objects.Change(t, definitionsClient(t), created, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Labels = map[string]string{"somebody": "else"}
	})
	if err := applying(t, gadgets("widgets", "1.10.0", "new")); err != nil {
		t.Fatal(err)
	}
	updated, fields := live(t, "widgets")
	if fields != "new" {
		t.Errorf("it has the fields %s, want the new one alone", fields)
	}
	if updated.Labels["somebody"] != "else" {
		t.Error("a label of somebody else is gone")
	}
	if updated.UID != created.UID {
		t.Error("it was deleted, and its resources with it")
	}
}

func TestANewerCRDIsNotDowngraded(t *testing.T) {
	if err := applying(t, gadgets("sprockets", "1.10.0", "new")); err != nil {
		t.Fatal(err)
	}
	if err := applying(t, gadgets("sprockets", "1.2.0", "old")); err != nil {
		t.Fatal(err)
	}
	if _, fields := live(t, "sprockets"); fields != "new" {
		t.Errorf("it has the fields %s, want those of the newer version", fields)
	}
}

func TestACRDWithoutAVersionAnnotationIsReplaced(t *testing.T) {
	if err := applying(t, gadgets("levers", "1.0.0", "old")); err != nil {
		t.Fatal(err)
	}
	before, _ := live(t, "levers")
	objects.Change(t, definitionsClient(t), before, func(d *apiextensionsv1.CustomResourceDefinition) { d.Annotations = nil })
	if err := applying(t, gadgets("levers", "0.1.0", "new")); err != nil {
		t.Fatal(err)
	}
	if _, fields := live(t, "levers"); fields != "new" {
		t.Errorf("it has the fields %s", fields)
	}
}

func TestACRDThatCannotBeAppliedIsReported(t *testing.T) {
	if err := applying(t, gadgets("cogs", "1.0.0", "one")); err != nil {
		t.Fatal(err)
	}
	before, _ := live(t, "cogs")
	objects.Change(t, definitionsClient(t), before, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Annotations["forge.c5c3.io/version"] = "latest"
	})
	for name, c := range map[string]struct{ definition, want string }{
		"a version that is none": {gadgets("cogs", "1.0.0", "two"), "correct or remove it"},
		"no definition":          {"spec: {field: 1}", "crds/one.yaml"},
		"refused":                {strings.Replace(gadgets("bolts", "1.0.0", "one"), "type: object", "type: gadget", 1), "bolts.test.c5c3.io"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := applying(t, c.definition); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	expect.Exists(t, definitionsClient(t), before)
}

func TestApplyingDefinitionsTakesNoArguments(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		args    []string
		want    string
	}{
		"arguments":      {Options{Definitions: fstest.MapFS{}}, []string{ApplyDefinitions, "--leader-elect"}, "takes none"},
		"no definitions": {Options{}, []string{ApplyDefinitions}, "has no CustomResourceDefinitions"},
		"an empty list":  {Options{Definitions: fstest.MapFS{}}, []string{ApplyDefinitions}, "no CustomResourceDefinitions"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Run(t.Context(), c.options, c.args, env.Config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
