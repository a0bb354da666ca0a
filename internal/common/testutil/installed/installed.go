// Package installed runs an operator as its chart installs it: with the arguments,
// the account and the permissions that Helm renders, on a test API server.
package installed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// Release holds the objects that Helm would install from a chart, in a separate
// namespace.
type Release struct {
	// Namespace is where the operator runs.
	Namespace string
	// Objects are all objects except the Deployment, which the test stands in for.
	Objects []client.Object

	chart      Chart
	deployment *appsv1.Deployment
}

// Read reads the rendered chart for the test values of that name, with the
// permissions that the operator really gets.
func (c Chart) Read(t *testing.T, rendered string) *Release {
	t.Helper()
	path := filepath.Join(c.Folder, "tests/rendered", rendered+".yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &Release{Namespace: c.Env.Namespace(t), chart: c}
	// Every object of the chart names the namespace, some in several places.
	content = bytes.ReplaceAll(content, []byte("operators"), []byte(r.Namespace))
	decoder := serializer.NewCodecFactory(c.Options.Scheme).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return r
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
}

func (r *Release) add(t *testing.T, decoded runtime.Object) {
	t.Helper()
	suffix := "-" + r.chart.Options.Name
	switch object := decoded.(type) {
	case *appsv1.Deployment:
		r.deployment = object
		return
	case *rbacv1.ClusterRole:
		if strings.HasSuffix(object.Name, suffix) {
			object.Rules = r.chart.rules(t)
		}
	case *rbacv1.Role:
		if strings.HasSuffix(object.Name, suffix) {
			object.Rules = r.chart.namespaced(t, r.chart.rules(t))
		}
	}
	r.Objects = append(r.Objects, decoded.(client.Object))
}

// ServeWebhooksAt makes the API server call the webhooks in this process. It still
// expects a certificate for the name of the Service.
func (r *Release) ServeWebhooksAt(port int32) {
	for _, object := range r.Objects {
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

// Create creates the objects, and removes them when the test ends.
func (r *Release) Create(t *testing.T) {
	t.Helper()
	c := r.chart.Env.Client(t, r.chart.Options.Scheme)
	objects.Create(t, c, r.Objects...)
	t.Cleanup(func() { r.uninstall(t, c) })
}

// uninstall removes the release again, and waits until the API server no
// longer calls its webhooks, which end with the test.
func (r *Release) uninstall(t *testing.T, c client.Client) {
	t.Helper()
	// The test's own context has ended.
	ctx := context.WithoutCancel(t.Context())
	for _, object := range r.Objects {
		if err := c.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
	err := expect.Until(ctx, func(ctx context.Context) error {
		return c.Create(ctx, r.chart.Resource(t, "default"), client.DryRunAll)
	})
	if err != nil {
		t.Errorf("the API server still asks the webhooks of a release that is gone: %v", err)
	}
}

// Run starts the operator with the Deployment's arguments and as its service
// account, until the test ends, and waits until it is ready. Additional arguments
// take precedence over those of the chart.
func (r *Release) Run(t *testing.T, args ...string) {
	t.Helper()
	t.Setenv("POD_NAMESPACE", r.Namespace)
	pod := r.deployment.Spec.Template.Spec
	probes := fmt.Sprintf("localhost:%d", envtest.FreePort(t))
	args = slices.Concat(pod.Containers[0].Args, args,
		[]string{"--metrics-bind-address=0", "--health-probe-bind-address=" + probes})

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.chart.run(ctx, args, r.as(pod.ServiceAccountName)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
	expect.Eventually(t, "the operator is ready with the permissions that the chart gives", func(ctx context.Context) error {
		return expect.OK(ctx, "http://"+probes+"/readyz")
	})
}

// ApplyDefinitions does what the Job of the chart's hook does, under its account.
func (r *Release) ApplyDefinitions(t *testing.T) error {
	t.Helper()
	return r.chart.run(t.Context(), []string{operator.ApplyDefinitions}, r.as(r.deployment.Name+"-crds"))
}

// as returns the client configuration of an account of the release.
func (r *Release) as(account string) *rest.Config {
	config := rest.CopyConfig(r.chart.Env.Config)
	config.Impersonate.UserName = "system:serviceaccount:" + r.Namespace + ":" + account
	return config
}
