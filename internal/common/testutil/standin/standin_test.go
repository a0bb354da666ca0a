//go:build integration

package standin_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esv1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
)

var (
	env         *envtest.Env
	deployments = standin.NewDeployments()
	jobs        = standin.NewJobs()
	mariadb     = standin.NewMariaDB()
	secrets     = standin.NewExternalSecrets()
)

func TestMain(m *testing.M) {
	o := envtest.Options{ThirdParty: []thirdparty.Project{thirdparty.MariaDB, thirdparty.ExternalSecrets}, Long: true}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) error {
		env = e
		return standin.Run(ctx, e.Config, deployments, jobs, mariadb, secrets)
	})
}

func newClient(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(mariadbv1alpha1.AddToScheme(scheme))
	utilruntime.Must(esv1.AddToScheme(scheme))
	utilruntime.Must(esv1alpha1.AddToScheme(scheme))
	return env.Client(t, scheme)
}

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "none"}},
		},
	}
}

func newJob(ns, name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec:       batchv1.JobSpec{BackoffLimit: new(int32(2)), Template: podTemplate()},
	}
}

// onlyPod waits for the one Pod of a Job or Deployment to be in the phase.
func onlyPod(t *testing.T, c client.Client, ns string, phase corev1.PodPhase) corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	expect.Eventually(t, "one Pod in phase "+string(phase), func(ctx context.Context) error {
		if err := c.List(ctx, pods, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Status.Phase != phase {
			return fmt.Errorf("there are %d Pods", len(pods.Items))
		}
		return nil
	})
	return pods.Items[0]
}

func TestAJobSucceedsOnceByDefault(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	job := newJob(ns, "work")
	objects.Create(t, c, job)
	expect.Object(t, c, job, func() error {
		if job.Status.Succeeded != 1 || job.Status.CompletionTime == nil {
			return fmt.Errorf("status %+v", job.Status)
		}
		return nil
	})
	onlyPod(t, c, ns, corev1.PodSucceeded)
	if got, want := len(jobs.Runs(ns, "work")), 1; got != want {
		t.Errorf("runs: got %d, want %d", got, want)
	}
}

func TestAJobFailsWithTheLastOutputOfItsContainer(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	jobs.Set(ns, "work", standin.FailWith(2, "access denied"))
	job := newJob(ns, "work")
	objects.Create(t, c, job)
	expect.Object(t, c, job, func() error {
		if job.Status.Failed != 3 {
			return fmt.Errorf("status %+v", job.Status)
		}
		return nil
	})
	pod := onlyPod(t, c, ns, corev1.PodFailed)
	if got := pod.Status.ContainerStatuses[0].State.Terminated; got.Message != "access denied" || got.ExitCode != 2 {
		t.Errorf("end of the container: got %+v", got)
	}
}

func TestAJobWithoutItsImageContinuesWhenTheImageArrives(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	jobs.Set(ns, "work", standin.NoImage("not found"))
	job := newJob(ns, "work")
	objects.Create(t, c, job)
	expect.Eventually(t, "a Pod that waits for its image", func(context.Context) error {
		pod := onlyPod(t, c, ns, corev1.PodPending)
		if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Waiting == nil {
			return fmt.Errorf("status %+v", pod.Status)
		}
		return nil
	})
	jobs.Set(ns, "work", standin.Succeed())
	expect.Object(t, c, job, func() error {
		if job.Status.Succeeded != 1 {
			return fmt.Errorf("status %+v", job.Status)
		}
		return nil
	})
}

func TestADeploymentRollsOutAndBreaksAndRecovers(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	template := podTemplate()
	template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "api"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)), Template: template,
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
		},
	}
	objects.Create(t, c, deployment)
	available := func(want int32) {
		t.Helper()
		expect.Object(t, c, deployment, func() error {
			if deployment.Status.AvailableReplicas != want || deployment.Status.ObservedGeneration != deployment.Generation {
				return fmt.Errorf("status %+v", deployment.Status)
			}
			return nil
		})
	}
	available(3)
	deployments.Set(ns, "api", standin.NoImage("not found"))
	available(0)
	onlyPod(t, c, ns, corev1.PodPending)
	deployments.Set(ns, "api", standin.Succeed())
	available(3)
	expect.Eventually(t, "no Pod", func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, client.InNamespace(ns)); err != nil || len(pods.Items) > 0 {
			return fmt.Errorf("%d Pods, error %w", len(pods.Items), err)
		}
		return nil
	})
}

func TestADatabaseFinalizerCanBeKeptToHangADeletion(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	db := &mariadbv1alpha1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "db"}}
	db.Spec.MariaDBRef.Name = "mariadb"
	objects.Create(t, c, db)
	expect.Condition(t, c, db, "Ready", metav1.ConditionTrue, "Created")

	mariadb.Set("Database", ns, "db", standin.Fail("no connection"))
	condition := expect.Condition(t, c, db, "Ready", metav1.ConditionFalse, "Failed")
	if condition.Message != "no connection" {
		t.Errorf("message: got %q", condition.Message)
	}

	mariadb.Set("Database", ns, "db", standin.Hang())
	if err := c.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	expect.Object(t, c, db, func() error {
		if db.DeletionTimestamp == nil || !slices.Contains(db.Finalizers, "database.k8s.mariadb.com/finalizer") {
			return fmt.Errorf("metadata %+v", db.ObjectMeta)
		}
		return nil
	})
	mariadb.Set("Database", ns, "db", standin.Succeed())
	expect.Gone(t, c, db)
}

func TestSecretsArePushedToTheStoreAndReadBack(t *testing.T) {
	c, ns := newClient(t), env.Namespace(t)
	path := "keystone/" + ns
	objects.Create(t, c, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "source"}, Data: map[string][]byte{"0": []byte("key")},
	})
	push := &esv1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "backup"}}
	push.Spec.SecretStoreRefs = []esv1alpha1.PushSecretStoreRef{{Name: "store", Kind: "ClusterSecretStore"}}
	push.Spec.Selector.Secret = &esv1alpha1.PushSecretSecret{Name: "source"}
	push.Spec.DeletionPolicy = esv1alpha1.PushSecretDeletionPolicyDelete
	push.Spec.Data = []esv1alpha1.PushSecretData{{
		Match: esv1alpha1.PushSecretMatch{RemoteRef: esv1alpha1.PushSecretRemoteRef{RemoteKey: path}},
	}}
	objects.Create(t, c, push)
	expect.Condition(t, c, push, "Ready", metav1.ConditionTrue, esv1alpha1.ReasonSynced)
	if diff := cmp.Diff(map[string]string{"0": "key"}, secrets.Stored(path)); diff != "" {
		t.Errorf("in the store (-want +got):\n%s", diff)
	}

	pull := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "copy"}}
	pull.Spec.Data = []esv1.ExternalSecretData{{
		SecretKey: "primary", RemoteRef: esv1.ExternalSecretDataRemoteRef{Key: path, Property: "0"},
	}}
	objects.Create(t, c, pull)
	expect.Condition(t, c, pull, "Ready", metav1.ConditionTrue, "SecretSynced")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "copy"}}
	expect.Exists(t, c, secret)
	if got := string(secret.Data["primary"]); got != "key" {
		t.Errorf("pulled %q, want %q", got, "key")
	}

	if err := c.Delete(t.Context(), push); err != nil {
		t.Fatal(err)
	}
	expect.Gone(t, c, push)
	if got := secrets.Stored(path); got != nil {
		t.Errorf("still in the store: %v", got)
	}
}
