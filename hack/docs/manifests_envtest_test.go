//go:build integration

package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// examples maps each kind to the object that parts of such a resource are merged
// into.
var examples = map[string]string{
	"Keystone":                "docs/examples/keystone.yaml",
	"Placement":               "docs/examples/placement.yaml",
	"Barbican":                "docs/examples/barbican.yaml",
	"BarbicanSecretStore":     "docs/examples/barbican-secret-store.yaml",
	"Glance":                  "docs/examples/glance.yaml",
	"GlanceBackend":           "docs/examples/glance-backend.yaml",
	"KeystoneIdentityBackend": "docs/examples/keystone-identity-backend.yaml",
	"Horizon":                 "docs/examples/horizon.yaml",
	"ControlPlane":            "operators/c5c3/config/samples/minimal.yaml",
	"CredentialRotation":      "operators/c5c3/config/samples/rotate-monthly.yaml",
	"SecretAggregate":         "operators/c5c3/config/samples/secret-aggregate.yaml",
}

// optionPages lists the pages with an example that sets every field of a kind.
var optionPages = map[string]string{
	"ControlPlane":            "docs/control-plane-options.md",
	"Keystone":                "docs/keystone-options.md",
	"Placement":               "docs/placement-options.md",
	"Barbican":                "docs/barbican-options.md",
	"BarbicanSecretStore":     "docs/barbican-secret-store-options.md",
	"Glance":                  "docs/glance-options.md",
	"GlanceBackend":           "docs/glance-backend-options.md",
	"KeystoneIdentityBackend": "docs/keystone-identity-backend-options.md",
	"Horizon":                 "docs/horizon-options.md",
}

// server is an API server with the kinds and the webhooks of all operators, and the
// kinds of the projects that they work with.
type server struct {
	client.Client
	discovery discovery.DiscoveryInterface
}

func startServer(t *testing.T) *server {
	t.Helper()
	env := envtest.Start(t, envtest.Options{
		CRDs:       append(operatorFiles(t, "crd", "bases"), filepath.Join(root, "deploy", "infra", "memcached-operator", "crd.yaml")),
		ThirdParty: thirdparty.All,
	})
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, keystonev1alpha1.AddToScheme, placementv1alpha1.AddToScheme, horizonv1alpha1.AddToScheme,
		barbicanv1alpha1.AddToScheme, glancev1alpha1.AddToScheme, c5c3v1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	env.ServeWebhooks(t, webhookFiles(t), s, func(mgr ctrl.Manager) error {
		for _, webhook := range webhooks() {
			if err := webhook.SetupWebhookWithManager(mgr); err != nil {
				return err
			}
		}
		return nil
	})
	return &server{Client: env.Client(t, s), discovery: discovery.NewDiscoveryClientForConfigOrDie(env.Config)}
}

func operatorFiles(t *testing.T, below ...string) []string {
	t.Helper()
	var folders []string
	for _, operator := range operators(t) {
		folders = append(folders, filepath.Join(append([]string{root, "operators", operator, "config"}, below...)...))
	}
	return folders
}

// webhookFiles copies the operators' webhook configurations and renames them,
// because all have the same names.
func webhookFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for i, folder := range operatorFiles(t, "webhook") {
		content, err := os.ReadFile(filepath.Join(outside.File(folder), "manifests.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		renamed := strings.ReplaceAll(string(content), "ating-webhook-configuration", fmt.Sprintf("ating-webhook-configuration-%d", i))
		path := filepath.Join(t.TempDir(), fmt.Sprintf("webhooks-%d.yaml", i))
		if err := os.WriteFile(path, []byte(renamed), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return files
}

func TestDocumentedManifestsAndCommandsAreAcceptedByTheAPIServer(t *testing.T) {
	server := startServer(t)
	all := pages(t)
	t.Run("what only a webhook refuses is refused", server.testWebhooks)
	t.Run("every manifest is accepted", func(t *testing.T) { server.testManifests(t, all) })
	t.Run("every patch of kubectl is accepted", func(t *testing.T) { server.testPatches(t, all) })
	t.Run("every resource of kubectl is served", func(t *testing.T) { server.testResources(t, all) })
}

// testWebhooks verifies that the API server calls the webhooks of all operators.
func (s *server) testWebhooks(t *testing.T) {
	for kind, part := range map[string]string{
		"Keystone":     `{"spec": {"fernet": {"rotationSchedule": "0 99 * * *"}}}`,
		"Placement":    `{"spec": {"identity": {"authURL": "http://user:password@keystone"}}}`,
		"Barbican":     `{"spec": {"identity": {"authURL": "http://user:password@keystone"}}}`,
		"ControlPlane": `{"spec": {"global": {}}}`,
	} {
		obj, err := Merge(exampleOf(t, kind), part)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.apply(t, obj); err == nil {
			t.Errorf("%s with %s: %v", kind, part, err)
		}
	}
}

// testManifests applies the blocks of YAML in a dry run.
func (s *server) testManifests(t *testing.T, all []Page) {
	seen := 0
	for _, page := range all {
		for _, block := range page.Blocks {
			if block.Language != "yaml" {
				continue
			}
			seen++
			if err := s.tryBlock(t, block); err != nil {
				t.Errorf("%s: %v", block, err)
			}
		}
	}
	enough(t, seen, 50, "manifests")
}

func (s *server) tryBlock(t *testing.T, block Code) error {
	t.Helper()
	if kind, ok := strings.CutPrefix(block.Mark, markMerge); ok {
		obj, err := Merge(exampleOf(t, kind), block.Text)
		if err != nil {
			return err
		}
		return s.apply(t, obj)
	}
	if block.Mark == markFragment || strings.HasPrefix(block.Mark, markValues) {
		_, err := Documents(block.Text)
		return err
	}
	objects, err := Objects(block.Text)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		_, err := s.RESTMapper().RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
		switch isThirdParty := strings.HasPrefix(block.Mark, markThirdParty); {
		case isThirdParty && err == nil:
			return fmt.Errorf("the kind %s is served here: remove the mark %s", obj.GetKind(), block.Mark)
		case isThirdParty:
			continue
		}
		if err := s.apply(t, obj); err != nil {
			return err
		}
	}
	return nil
}

func exampleOf(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	path, ok := examples[kind]
	if !ok {
		t.Fatalf("there is no example of the kind %q", kind)
	}
	content, err := os.ReadFile(outside.File(filepath.Join(root, path)))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(string(content))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%s has %d objects, %v", path, len(objects), err)
	}
	return objects[0]
}

func (s *server) apply(t *testing.T, obj *unstructured.Unstructured) error {
	t.Helper()
	if name := obj.GetNamespace(); name != "" {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := client.IgnoreAlreadyExists(s.Create(t.Context(), namespace)); err != nil {
			return err
		}
	}
	strict := client.WithFieldValidation(s.Client, client.FieldValidation("Strict"))
	err := strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj),
		client.DryRunAll, client.FieldOwner("docs"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("%s %s is refused: %w", obj.GetKind(), obj.GetName(), err)
	}
	return nil
}

// testPatches applies the patches of our resources in kubectl patch commands to the
// examples.
func (s *server) testPatches(t *testing.T, all []Page) {
	kinds := map[string]string{}
	for kind := range examples {
		kinds[strings.ToLower(kind)] = kind
	}
	seen := 0
	eachCommand(t, all, func(code Code, command Command) {
		arguments := command.Arguments()
		patches := slices.Concat(command.Values("-p"), command.Values("--patch"))
		if len(arguments) < 2 || arguments[0] != "patch" || kinds[arguments[1]] == "" || len(patches) != 1 || patches[0] == "" {
			return
		}
		seen++
		obj, err := Merge(exampleOf(t, kinds[arguments[1]]), patches[0])
		if err == nil {
			err = s.apply(t, obj)
		}
		if err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}, "kubectl")
	enough(t, seen, 5, "patches")
}

// resourceVerbs are the commands of kubectl whose first argument is a resource.
var resourceVerbs = map[string]bool{
	"get": true, "describe": true, "delete": true, "patch": true, "annotate": true, "label": true, "wait": true,
	"explain": true, "edit": true, "scale": true, "port-forward": true, "exec": true, "logs": true,
}

func (s *server) testResources(t *testing.T, all []Page) {
	served := s.servedNames(t)
	seen := 0
	eachCommand(t, all, func(code Code, command Command) {
		arguments := command.Arguments()
		if len(arguments) < 2 || !resourceVerbs[arguments[0]] || arguments[1] == "" {
			return
		}
		for name := range strings.SplitSeq(arguments[1], ",") {
			seen++
			name, _, slash := strings.Cut(name, "/")
			isPod := arguments[0] == "exec" || arguments[0] == "logs" || arguments[0] == "port-forward"
			if isPod && !slash {
				continue
			}
			if arguments[0] == "explain" {
				name, _, _ = strings.Cut(name, ".")
			}
			if !served[name] {
				t.Errorf("%s: no API server serves %s", code, name)
			}
		}
	}, "kubectl")
	enough(t, seen, 50, "resources")
}

// servedNames returns all names under which kubectl finds a resource, including
// categories.
func (s *server) servedNames(t *testing.T) map[string]bool {
	t.Helper()
	_, lists, err := s.discovery.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, list := range lists {
		group, _, _ := strings.Cut(list.GroupVersion, "/")
		for _, resource := range list.APIResources {
			for _, name := range slices.Concat([]string{resource.Name, resource.SingularName, strings.ToLower(resource.Kind)},
				resource.ShortNames, resource.Categories) {
				names[name], names[name+"."+group] = true, true
			}
		}
	}
	return names
}

func TestEverySpecFieldHasAnExample(t *testing.T) {
	kinds := definitions(t)
	for kind, path := range optionPages {
		t.Run(kind, func(t *testing.T) {
			page, err := ReadPage(root, path)
			if err != nil {
				t.Fatal(err)
			}
			shown := map[string]bool{}
			for _, block := range page.Blocks {
				if block.Language == "yaml" && block.Mark != markMerge+kind {
					t.Errorf("%s: a block is not marked with %s%s", block, markMerge, kind)
				}
				collectShown(t, block, shown)
			}
			fields := map[string]bool{}
			spec := kinds[kind].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			collectFields("spec", &spec, fields)
			missing := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(field string) bool {
				return !strings.HasPrefix(field, "spec.") || shown[field] || isKubernetesType(field) || isShownElsewhere(field)
			})
			if len(missing) > 0 {
				t.Errorf("%s has no example of %s", path, strings.Join(missing, ", "))
			}
		})
	}
}

// isKubernetesType reports whether the field belongs to a type of Kubernetes, which is
// documented there.
func isKubernetesType(field string) bool {
	if rest, ofService := strings.CutPrefix(field, "spec.services."); ofService {
		_, rest, _ = strings.Cut(rest, ".")
		field = "spec." + rest
	}
	return slices.ContainsFunc([]string{
		"spec.resources.", "spec.strategy.", "spec.topologySpreadConstraints.", "spec.networkPolicy.additionalEgress.",
		"spec.affinity.", "spec.extraEnv.", "spec.extraVolumes.configMap.items.", "spec.extraVolumes.secret.items.", "spec.tolerations.",
	}, func(parent string) bool { return strings.HasPrefix(field, parent) })
}

// isShownElsewhere reports whether the field is one of another kind, too, whose page has an example of it.
func isShownElsewhere(field string) bool {
	return strings.HasPrefix(field, "spec.services.keystone.identityBackends.")
}

func collectShown(t *testing.T, block Code, shown map[string]bool) {
	t.Helper()
	documents, err := Documents(block.Text)
	if err != nil {
		t.Fatalf("%s: %v", block, err)
	}
	for _, document := range documents {
		var value any
		if err := json.Unmarshal(document, &value); err != nil {
			t.Fatal(err)
		}
		markShown("", value, shown)
	}
}

func markShown(path string, value any, shown map[string]bool) {
	shown[path] = true
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			markShown(strings.TrimPrefix(path+"."+name, "."), inner, shown)
		}
	case []any:
		for _, inner := range value {
			markShown(path, inner, shown)
		}
	}
}
