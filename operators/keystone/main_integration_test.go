//go:build integration

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

const (
	chart  = "helm/keystone-operator/"
	sample = "config/samples/minimal.yaml"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	o := envtest.Options{CRDs: []string{chart + "crds"}, Foreign: foreign.All}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsKeystones(t *testing.T) {
	release := readRelease(t, "defaults")
	port := envtest.FreePort(t)
	release.serveWebhooksAt(port)
	release.create(t)
	release.run(t, fmt.Sprintf("--webhook-port=%d", port))

	c := env.Client(t, controller.Scheme())
	keystone := readKeystone(t, release.deployment.Namespace)
	expect.Eventually(t, "a valid Keystone is admitted", func(ctx context.Context) error {
		return c.Create(ctx, keystone.DeepCopy(), client.DryRunAll)
	})
	invalid := keystone.DeepCopy()
	invalid.Spec.Fernet.RotationSchedule = "whenever"
	expect.Eventually(t, "a schedule that is none is refused", func(ctx context.Context) error {
		err := c.Create(ctx, invalid.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "invalid cron expression") {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
	assertReconciled(t, c, keystone)
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) {
	release := readRelease(t, "namespace-scoped")
	for _, object := range release.objects {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; strings.Contains(kind, "Cluster") || strings.Contains(kind, "Webhook") {
			t.Errorf("the release has a %s", kind)
		}
	}
	release.create(t)
	release.run(t)
	assertReconciled(t, env.Client(t, controller.Scheme()), readKeystone(t, release.deployment.Namespace))
}

// assertReconciled creates the Keystone, which lacks its Secrets, and waits
// until the operator says so.
func assertReconciled(t *testing.T, c client.Client, keystone *keystonev1alpha1.Keystone) {
	t.Helper()
	if err := c.Create(t.Context(), keystone); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the missing Secrets are reported", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(keystone), keystone); err != nil {
			return err
		}
		if !meta.IsStatusConditionFalse(keystone.Status.Conditions, "SecretsReady") {
			return fmt.Errorf("conditions are %v", keystone.Status.Conditions)
		}
		return nil
	})
}

// release is what Helm would install.
type release struct {
	objects    []client.Object
	deployment *appsv1.Deployment
}

// readRelease reads a rendered test release and moves it to a namespace of its
// own, with the permissions that the operator really gets.
func readRelease(t *testing.T, name string) *release {
	t.Helper()
	path := chart + "tests/rendered/" + name + ".yaml"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Every object of the chart names the namespace, some in several places.
	content = bytes.ReplaceAll(content, []byte("operators"), []byte(env.Namespace(t)))
	decoder := serializer.NewCodecFactory(controller.Scheme()).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	r := &release{}
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		decoded, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r.add(t, decoded)
	}
	return r
}

func (r *release) add(t *testing.T, decoded runtime.Object) {
	t.Helper()
	switch object := decoded.(type) {
	case *appsv1.Deployment:
		r.deployment = object
		return
	case *rbacv1.ClusterRole:
		if strings.HasSuffix(object.Name, "-keystone-operator") {
			object.Rules = readRules(t)
		}
	case *rbacv1.Role:
		if strings.HasSuffix(object.Name, "-keystone-operator") {
			object.Rules = namespaced(t, readRules(t))
		}
	}
	r.objects = append(r.objects, decoded.(client.Object))
}

// namespaced leaves out what the API server says is cluster-scoped, which a
// Role cannot grant.
func namespaced(t *testing.T, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	mapper := env.Client(t, controller.Scheme()).RESTMapper()
	clusterScoped := func(group, resource string) bool {
		plain, _, _ := strings.Cut(resource, "/")
		kind, err := mapper.KindFor(schema.GroupVersionResource{Group: group, Resource: plain})
		if err != nil {
			return false
		}
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
	var kept []rbacv1.PolicyRule
	for _, rule := range rules {
		rule.Resources = slices.DeleteFunc(rule.Resources, func(resource string) bool {
			return slices.ContainsFunc(rule.APIGroups, func(group string) bool { return clusterScoped(group, resource) })
		})
		if len(rule.Resources) > 0 {
			kept = append(kept, rule)
		}
	}
	return kept
}

// readRules reads the rules that the rendered test release has stand-ins for.
func readRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	content, err := os.ReadFile(chart + "files/rbac-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	if err := sigsyaml.UnmarshalStrict(content, &rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// serveWebhooksAt makes the API server look for the webhooks in this process,
// still expecting a certificate for the Service's name.
func (r *release) serveWebhooksAt(port int32) {
	for _, object := range r.objects {
		switch o := object.(type) {
		case *corev1.Service:
			o.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
		case *admissionv1.MutatingWebhookConfiguration:
			for i := range o.Webhooks {
				o.Webhooks[i].ClientConfig.Service.Port = ptr.To(port)
			}
		case *admissionv1.ValidatingWebhookConfiguration:
			for i := range o.Webhooks {
				o.Webhooks[i].ClientConfig.Service.Port = ptr.To(port)
			}
		}
	}
}

func (r *release) create(t *testing.T) {
	t.Helper()
	c := env.Client(t, controller.Scheme())
	objects.Create(t, c, r.objects...)
	t.Cleanup(func() { r.uninstall(t, c) })
}

// uninstall takes the release away again, and waits until the API server no
// longer asks its webhooks, which are gone with the test.
func (r *release) uninstall(t *testing.T, c client.Client) {
	t.Helper()
	// The test's own context has ended.
	ctx := context.WithoutCancel(t.Context())
	for _, object := range r.objects {
		if err := c.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
	err := expect.Until(ctx, func(ctx context.Context) error {
		return c.Create(ctx, readKeystone(t, "default"), client.DryRunAll)
	})
	if err != nil {
		t.Errorf("the API server still asks the webhooks of a release that is gone: %v", err)
	}
}

// run starts the operator with the Deployment's arguments and as its service
// account, until the test ends, and waits until it is ready.
func (r *release) run(t *testing.T, args ...string) {
	t.Helper()
	t.Setenv("POD_NAMESPACE", r.deployment.Namespace)
	pod := r.deployment.Spec.Template.Spec
	config := rest.CopyConfig(env.Config)
	config.Impersonate.UserName = "system:serviceaccount:" + r.deployment.Namespace + ":" + pod.ServiceAccountName
	probes := fmt.Sprintf("localhost:%d", envtest.FreePort(t))
	// Of a flag that is given twice, the later one counts.
	args = slices.Concat(pod.Containers[0].Args, args,
		[]string{"--metrics-bind-address=0", "--health-probe-bind-address=" + probes})

	o := options()
	o.SkipNameValidation = true
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- operator.Run(ctx, o, args, config) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
	expect.Eventually(t, "the operator is ready with the permissions that the chart gives", func(ctx context.Context) error {
		return get(ctx, "http://"+probes+"/readyz")
	})
}

func readKeystone(t *testing.T, namespace string) *keystonev1alpha1.Keystone {
	t.Helper()
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	keystone := &keystonev1alpha1.Keystone{}
	if err := sigsyaml.UnmarshalStrict(content, keystone); err != nil {
		t.Fatal(err)
	}
	keystone.Namespace = namespace
	return keystone
}

func get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", url, response.StatusCode, body)
	}
	return nil
}
