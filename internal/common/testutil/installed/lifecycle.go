package installed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/definitions"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// helmVariable is the environment variable with the path of the helm binary.
const helmVariable = "HELM"

// Lifecycle performs the operations of users with Helm itself: install the last
// released chart, upgrade to this one, roll back, upgrade again and uninstall. It
// checks that the resource survives and that the definitions with the given names
// are upgraded and stay so. The test stands in for the kubelet and runs the Job of
// the hook.
func (c Chart) Lifecycle(t *testing.T, released string, resource client.Object, names ...string) {
	t.Helper()
	h := &lifecycle{
		t: t, chart: c, namespace: resource.GetNamespace(), names: names, values: withoutWebhooks,
		Client: c.Env.Client(t, c.Options.Scheme), kubeconfig: c.Env.KubeConfig(t),
	}
	archives, err := filepath.Glob(filepath.Join(outside.File(released), c.Options.Name+"-*.tgz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("%s has %v, want one chart (%v)", released, archives, err)
	}
	for _, name := range names {
		h.patchDefinition(name, `{"metadata":{"annotations":{"`+definitions.VersionAnnotation+`":null}}}`)
	}
	h.helm("install", c.Options.Name, archives[0])
	objects.Create(t, h, resource)
	before := resource.GetUID()

	h.upgrade()
	h.helm("rollback", c.Options.Name, "1")
	h.expectVersions()
	h.upgrade()
	h.helm("uninstall", c.Options.Name)
	h.expectVersions()
	expect.Exists(t, h, resource)
	if resource.GetUID() != before {
		t.Error("the resource is another one")
	}
}

// Rendered returns the manifests that Helm would install in the namespace with
// default values. Helm consults the cluster for that.
func (c Chart) Rendered(t *testing.T, namespace string) string {
	t.Helper()
	h := &lifecycle{t: t, chart: c, namespace: namespace, kubeconfig: c.Env.KubeConfig(t)}
	output, err := h.command("install", c.Options.Name, c.Folder, "--dry-run=server").CombinedOutput()
	if err != nil {
		t.Fatalf("helm install: %v: %s", err, output)
	}
	return string(output)
}

type lifecycle struct {
	client.Client
	t          *testing.T
	chart      Chart
	namespace  string
	names      []string
	kubeconfig string
	// values are the arguments that set chart values.
	values []string
}

// No process serves the webhooks in this test.
var withoutWebhooks = []string{"--set=webhook.enabled=false"}

// helm runs a Helm command.
func (l *lifecycle) helm(args ...string) {
	l.t.Helper()
	if output, err := l.command(args...).CombinedOutput(); err != nil {
		l.t.Fatalf("helm %s: %v: %s", strings.Join(args, " "), err, output)
	}
}

func (l *lifecycle) command(args ...string) *exec.Cmd {
	home := l.t.TempDir()
	if args[0] == "install" || args[0] == "upgrade" {
		args = append(args, l.values...)
	}
	args = append(args, "--namespace", l.namespace, "--kubeconfig", l.kubeconfig, "--timeout", "1m")
	command := exec.CommandContext(l.t.Context(), os.Getenv(helmVariable), args...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	return command
}

// upgrade upgrades to the chart of the checkout, and runs the hook's Job once it
// exists.
func (l *lifecycle) upgrade() {
	l.t.Helper()
	ended := make(chan error, 1)
	command := l.command("upgrade", l.chart.Options.Name, l.chart.Folder)
	go func() {
		output, err := command.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("helm upgrade: %w: %s", err, output)
		}
		ended <- err
	}()
	l.runJob()
	if err := <-ended; err != nil {
		l.t.Fatal(err)
	}
	l.expectVersions()
	hook := metav1.ObjectMeta{Namespace: l.namespace, Name: l.chart.Options.Name + "-crds"}
	expect.Gone(l.t, l, &batchv1.Job{ObjectMeta: hook})
	expect.Gone(l.t, l, &corev1.ServiceAccount{ObjectMeta: hook})
}

// runJob does what the pod of the hook's Job would do, under its account, and
// reports completion in the status of the Job.
func (l *lifecycle) runJob() {
	l.t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.chart.Options.Name + "-crds"}}
	expect.Exists(l.t, l, job)
	container := job.Spec.Template.Spec.Containers[0]
	r := &Release{Namespace: l.namespace, chart: l.chart}
	account := r.as(job.Spec.Template.Spec.ServiceAccountName)
	if err := operator.Run(l.t.Context(), l.chart.Options, container.Args, account); err != nil {
		l.t.Errorf("the Job fails: %v", err)
	}
	objects.ChangeStatus(l.t, l, job, func(j *batchv1.Job) {
		now := metav1.Now()
		j.Status.StartTime, j.Status.CompletionTime, j.Status.Succeeded = &now, &now, 1
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		j.Status.Ready, j.Status.Terminating = ptr.To(int32(0)), ptr.To(int32(0))
		for _, condition := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: condition, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now,
			})
		}
	})
}

// expectVersions waits until every definition has the annotation with its version.
func (l *lifecycle) expectVersions() {
	l.t.Helper()
	for _, name := range l.names {
		definition := definitionOf(name)
		expect.Object(l.t, l, definition, func() error {
			if definition.Annotations[definitions.VersionAnnotation] == "" {
				return errors.New("it is not the one of this chart")
			}
			return nil
		})
	}
}

func (l *lifecycle) patchDefinition(name, patch string) {
	l.t.Helper()
	err := expect.Until(l.t.Context(), func(ctx context.Context) error {
		return l.Patch(ctx, definitionOf(name), client.RawPatch(types.MergePatchType, []byte(patch)))
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func definitionOf(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}
