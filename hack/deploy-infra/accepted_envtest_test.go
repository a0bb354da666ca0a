//go:build integration

package deployinfra

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/short"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
)

// pinned lists files with definitions in modules that hack/tools/custom-resources
// pins. Those of Flux are in its complete manifests.
var pinned = map[string][]string{
	"github.com/controlplaneio-fluxcd/flux-operator": {
		"config/crd/bases/fluxcd.controlplane.io_fluxinstances.yaml",
		"config/data/flux/v2.9.0/source-controller.yaml",
		"config/data/flux/v2.9.0/helm-controller.yaml",
		"config/data/flux/v2.9.0/kustomize-controller.yaml",
	},
	"github.com/envoyproxy/gateway": {
		"charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_envoyproxies.yaml",
	},
}

// moduleDir returns the folder of a module that a tool of hack/tools requires.
func moduleDir(t *testing.T, tool, module string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), outside.File(filepath.Join(root, "hack/tools/module-dir.sh")), tool, module)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("find the module %s: %v", module, err)
	}
	return strings.TrimSpace(string(output))
}

// definitions returns the CustomResourceDefinitions among the documents of a file.
func definitions(t *testing.T, file string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var found []*apiextensionsv1.CustomResourceDefinition
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(read(t, file)), 4096)
	for {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		err := decoder.Decode(crd)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("parse %s: %v", file, err)
		}
		if crd.Kind == "CustomResourceDefinition" {
			found = append(found, crd)
		}
	}
}

// serve runs an API server with every kind in our manifests.
func serve(t *testing.T) *envtest.Env {
	t.Helper()
	short.Skip(t)
	own := []string{filepath.Join(root, "deploy/infra/memcached-operator/crd.yaml")}
	for _, operator := range operators(t) {
		own = append(own, filepath.Join(root, "operators", operator, "config/crd/bases"))
	}
	env := envtest.Start(t, envtest.Options{
		ThirdParty: []thirdparty.Project{thirdparty.CertManager, thirdparty.ExternalSecrets, thirdparty.GatewayAPI, thirdparty.MariaDB},
		CRDs:       own,
	})
	var crds []*apiextensionsv1.CustomResourceDefinition
	for module, files := range pinned {
		dir := moduleDir(t, "custom-resources", module)
		for _, file := range files {
			crds = append(crds, definitions(t, filepath.Join(dir, file))...)
		}
	}
	if _, err := crenvtest.InstallCRDs(env.Config, crenvtest.CRDInstallOptions{CRDs: crds, MaxTime: expect.Timeout}); err != nil {
		t.Fatalf("install the definitions: %v", err)
	}
	return env
}

// accept returns the API server's verdict about an object. Namespaces are created,
// since other objects need them.
func accept(t *testing.T, c client.Client, object *unstructured.Unstructured) error {
	t.Helper()
	var options []client.CreateOption
	if object.GetKind() != "Namespace" {
		options = append(options, client.DryRunAll)
	}
	return client.IgnoreAlreadyExists(c.Create(t.Context(), object, options...))
}

// parse returns the objects of a file that is in no Kustomization.
func parse(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	return decode(t, "deploy/"+file, read(t, filepath.Join(deploy(), file)))
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// decode returns the objects in a text; origin describes where it comes from.
func decode(t *testing.T, origin, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("parse %s: %v", origin, err)
		}
		objects = append(objects, object)
	}
}

// all returns the objects of all manifests by origin, namespaces first.
func all(t *testing.T) (origins []string, objects map[string][]*unstructured.Unstructured) {
	t.Helper()
	objects = map[string][]*unstructured.Unstructured{}
	for _, folder := range append([]string{"namespaces", "kind/chaos-mesh", "infra/traefik", "infra/secretstore"}, kustomizations(t)...) {
		if objects[folder] != nil {
			continue
		}
		origins = append(origins, folder)
		for _, resource := range build(t, folder).Resources() {
			content, err := resource.Map()
			if err != nil {
				t.Fatal(err)
			}
			objects[folder] = append(objects[folder], &unstructured.Unstructured{Object: content})
		}
	}
	for file := range unlisted {
		// Without the webhook, a ControlPlane would be incomplete.
		if filepath.Base(file) != "values.yaml" && filepath.Base(file) != "controlplane.yaml" {
			origins = append(origins, file)
			objects[file] = parse(t, file)
		}
	}
	return origins, objects
}

func TestEveryObjectIsAcceptedByAnAPIServer(t *testing.T) {
	// Unknown fields must not be ignored silently.
	c := client.WithFieldValidation(serve(t).Client(t, runtime.NewScheme()), metav1.FieldValidationStrict)
	origins, objects := all(t)
	for _, origin := range origins {
		for _, object := range objects[origin] {
			if err := accept(t, c, object); err != nil {
				t.Errorf("deploy/%s: %s %s: %v", origin, object.GetKind(), object.GetName(), err)
			}
		}
	}
	t.Run("an unknown field is refused", func(t *testing.T) {
		wrong := parse(t, "flux-system/fluxinstance.yaml")[0]
		if err := unstructured.SetNestedField(wrong.Object, "x", "spec", "nobody"); err != nil {
			t.Fatal(err)
		}
		if err := accept(t, c, wrong); err == nil || !strings.Contains(fmt.Sprint(err), "nobody") {
			t.Errorf("got %v", err)
		}
	})
}
