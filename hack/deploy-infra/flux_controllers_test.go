//go:build integration && flux

package deployinfra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
)

// The kinds that the tests use, and the namespace of Flux's objects.
var (
	gitRepositories     = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
	kustomizeObjects    = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
	helmReleases        = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}
	clusterIssuers      = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "ClusterIssuer"}
	certificates        = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}
	clusterSecretStores = schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: "ClusterSecretStore"}
	externalSecrets     = schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"}
	controlPlanes       = schema.GroupVersionKind{Group: "c5c3.io", Version: "v1alpha1", Kind: "ControlPlane"}
	mariadbs            = schema.GroupVersionKind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "MariaDB"}
	memcacheds          = schema.GroupVersionKind{Group: "memcached.c5c3.io", Version: "v1beta1", Kind: "Memcached"}
	gateways            = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}
)

const fluxNamespace = "flux-system"

// flux is a cluster with the controllers of Flux, in which Deployments and Jobs
// become ready.
type flux struct {
	client client.Client
	*sources
}

// startFlux runs the named controllers, which make has built, until the test ends.
func startFlux(t *testing.T, env *envtest.Env, controllers ...string) *flux {
	t.Helper()
	log.SetLogger(logr.Discard())
	f := &flux{client: env.Client(t, runtime.NewScheme()), sources: serveSources(t)}
	if err := standin.Run(t.Context(), env.Config, standin.NewDeployments(), standin.NewJobs()); err != nil {
		t.Fatal(err)
	}
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	namespace.SetName(fluxNamespace)
	if err := f.client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	kubeconfig := env.KubeConfig(t)
	for _, name := range controllers {
		startController(t, name, kubeconfig)
	}
	return f
}

func startController(t *testing.T, name, kubeconfig string) {
	t.Helper()
	folder := os.Getenv("FLUX_CONTROLLERS")
	if folder == "" {
		t.Fatal("FLUX_CONTROLLERS does not say where the controllers of Flux are: run make flux-test")
	}
	local := func() string { return fmt.Sprintf("127.0.0.1:%d", envtest.FreePort(t)) }
	args := []string{"--events-addr=", "--metrics-addr=" + local(), "--health-addr=" + local()}
	if name == "source-controller" {
		storage := local()
		args = append(args, "--storage-path="+t.TempDir(), "--storage-addr="+storage, "--storage-adv-addr="+storage)
	} else {
		args = append(args, "--requeue-dependency=1s")
	}
	var printed bytes.Buffer
	command := exec.Command(filepath.Join(folder, name), args...)
	command.Env = []string{
		"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + fluxNamespace, "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(),
		"PATH=" + os.Getenv("PATH"),
	}
	command.Stdout, command.Stderr = &printed, &printed
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait())
		if err != nil || t.Failed() {
			t.Logf("%s: %v\n%s", name, err, printed.Bytes())
		}
	})
}

// list returns the objects of a kind in all namespaces.
func (f *flux) list(t *testing.T, kind schema.GroupVersionKind) []unstructured.Unstructured {
	t.Helper()
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind)
	if err := f.client.List(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	return found.Items
}

// object returns an object with nothing but a name and a namespace.
func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// report sets the status of the condition on all objects of the kind, like their
// controller would. It waits until there is at least one object.
func (f *flux) report(t *testing.T, kind schema.GroupVersionKind, condition string, status metav1.ConditionStatus) {
	t.Helper()
	expect.Eventually(t, "a "+kind.Kind, func(context.Context) error {
		if len(f.list(t, kind)) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	for _, obj := range f.list(t, kind) {
		f.reportOf(t, &obj, condition, status)
	}
}

func (f *flux) reportOf(t *testing.T, obj *unstructured.Unstructured, condition string, status metav1.ConditionStatus) {
	t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	before := obj.DeepCopy()
	obj.Object["status"] = map[string]any{
		"observedGeneration": obj.GetGeneration(),
		"conditions": []any{map[string]any{
			"type": condition, "status": string(status), "reason": "Test", "message": "as the test says", "lastTransitionTime": now,
			"observedGeneration": obj.GetGeneration(),
		}},
	}
	if err := f.client.Status().Patch(t.Context(), obj, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// stage waits until a Flux Kustomization has the condition Ready with this status
// and reason.
func (f *flux) stage(t *testing.T, name string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	expect.Condition(t, f.client, object(kustomizeObjects, fluxNamespace, name), "Ready", status, reason)
}

// dropWebhooks removes the webhooks of charts whose operators do not run here.
func (f *flux) dropWebhooks(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		all := object(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind}, "", "")
		if err := f.client.DeleteAllOf(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
}

// now makes Flux reconcile an object immediately, like "flux reconcile".
func (f *flux) now(t *testing.T, kind schema.GroupVersionKind, name string) {
	t.Helper()
	obj := object(kind, fluxNamespace, name)
	patch := fmt.Sprintf(`{"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": %q}}}`, time.Now().Format(time.RFC3339Nano))
	if err := f.client.Patch(t.Context(), obj, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}
