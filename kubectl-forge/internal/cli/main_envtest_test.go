//go:build integration

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// One API server with the kinds of all operators and of every third-party project.
// No operator runs: the tests write what one would.
var (
	env   *envtest.Env
	admin client.Client
)

func TestMain(m *testing.M) {
	definitions, err := filepath.Glob("../../../operators/*/config/crd/bases")
	if err != nil {
		panic(err)
	}
	o := envtest.Options{CRDs: definitions, ThirdParty: thirdparty.All, Flags: map[string]string{
		// The first list of each kind would be refused until its cache is filled, and
		// repeated a second later. No test watches anything.
		"watch-cache": "false",
	}}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		env = e
		scheme, err := kube.Scheme()
		if err != nil {
			return err
		}
		admin, err = e.NewClient(scheme)
		return err
	})
}

// user is somebody with the rights of a file in one namespace.
type user struct {
	namespace string
	session   *kube.Session
	// options are for all commands.
	options []Option
}

// logs play the logs of containers, which an API server without nodes has none of.
type logs string

// Read returns the same log for each container.
func (l logs) Read(context.Context, kube.LogRequest) (string, error) { return string(l), nil }

// as returns a user with the rights of the file in a namespace that holds nothing
// yet.
func as(t *testing.T, rules string) user {
	t.Helper()
	return in(t, env.Namespace(t), rules)
}

func in(t *testing.T, namespace, rules string) user {
	t.Helper()
	config := env.Config
	if rules != "" {
		var err error
		config, err = env.NamespacedUser(t.Context(), namespace, namespace+"-"+rules, "testdata/"+rules+".yaml")
		if err != nil {
			t.Fatal(err)
		}
	}
	return user{namespace: namespace, session: session(t, config, namespace)}
}

func session(t *testing.T, config *rest.Config, namespace string) *kube.Session {
	t.Helper()
	s, err := kube.NewSession(config, namespace)
	if err != nil {
		t.Fatal(err)
	}
	s.Logs = logs("cannot reach mysql+pymysql://keystone:in-a-log@mariadb\n")
	return s
}

// result is what a command line came to.
type result struct {
	code     int
	out, err string
}

// String shows the result in the message of a test.
func (r result) String() string { return fmt.Sprintf("exit code %d\n%s%s", r.code, r.out, r.err) }

// run runs a command line to its end.
func (u user) run(t *testing.T, args ...string) result {
	t.Helper()
	return u.runUntil(t.Context(), args...)
}

// runUntil runs a command line that is interrupted when the context ends.
func (u user) runUntil(ctx context.Context, args ...string) result {
	var out, errOut strings.Builder
	code := Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		append(u.options, WithSession(u.session), WithInterval(20*time.Millisecond))...)
	return result{code, out.String(), errOut.String()}
}

// start runs a command line in the background, and the function returns its end.
func (u user) start(t *testing.T, args ...string) (end func() result) {
	t.Helper()
	ended := make(chan result, 1)
	go func() { ended <- u.run(t, args...) }()
	return func() result {
		select {
		case r := <-ended:
			return r
		case <-time.After(expect.Timeout):
			t.Fatalf("%v has not come to its end", args)
			return result{}
		}
	}
}

func (r result) expect(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("got exit code %d, expected %d:\n%s", r.code, code, r)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("%q is not in:\n%s", text, r)
		}
	}
}

// store creates the object in the namespace, and its status with it. What a
// fixture says of its identity is the API server's.
func store[T client.Object](t *testing.T, namespace string, obj T) T {
	t.Helper()
	obj.SetNamespace(namespace)
	obj.SetUID("")
	obj.SetGeneration(0)
	obj.SetCreationTimestamp(metav1.Time{})
	withStatus, isObject := obj.DeepCopyObject().(T)
	if !isObject {
		t.Fatalf("the copy of %T is another type", obj)
	}
	if err := admin.Create(t.Context(), obj); err != nil {
		t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
	}
	withStatus.SetResourceVersion(obj.GetResourceVersion())
	withStatus.SetUID(obj.GetUID())
	if err := admin.Status().Update(t.Context(), withStatus); err != nil {
		t.Fatalf("update the status of %T %s: %v", obj, obj.GetName(), err)
	}
	return withStatus
}

// readyKeystone stores a Keystone that is ready.
func readyKeystone(t *testing.T, namespace string) *keystonev1alpha1.Keystone {
	t.Helper()
	return store(t, namespace, testutil.Installed(
		testutil.True(keystonev1alpha1.ConditionFernetKeysReady, keystonev1alpha1.ReasonFernetKeysAvailable),
		testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)))
}

func fernetCronJob(t *testing.T, k *keystonev1alpha1.Keystone) *batchv1.CronJob {
	t.Helper()
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: k.Name + "-" + keystonev1alpha1.FernetRotation}}
	cronJob.Spec.Schedule = "0 0 * * 0"
	cronJob.Spec.JobTemplate.Labels = map[string]string{"app.kubernetes.io/component": keystonev1alpha1.FernetRotation}
	cronJob.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "rotate", Image: "keystone"}},
	}
	return store(t, k.Namespace, cronJob)
}

// change edits the stored object and its status.
func change[T client.Object](t *testing.T, obj T, edit func(T)) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("a change of %T %s", obj, obj.GetName()), func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		edit(obj)
		return admin.Status().Update(ctx, obj)
	})
}
