//go:build integration

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// brokenKeystone stores a Keystone whose only API pod is not ready.
func brokenKeystone(t *testing.T, namespace string) *keystonev1alpha1.Keystone {
	t.Helper()
	k := store(t, namespace, testutil.Installed(testutil.NotReady(true,
		testutil.False(keystonev1alpha1.ConditionKeystoneAPIReady, keystonev1alpha1.ReasonAdminPasswordRefused,
			"Keystone rejects the password in Secret keystone-admin"))...))
	pod := testutil.APIPod(k, "keystone-6d4b-x7k2p", false, testutil.Running("keystone", false))
	pod.Spec.Containers = []corev1.Container{{Name: "keystone", Image: "keystone"}}
	store(t, namespace, &pod)
	return k
}

func TestStatusShowsTheCauseToANamespaceUser(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	u.run(t, "status").expect(t, CodeNotReady,
		"Keystone keystone in namespace "+u.namespace+" is not ready and needs action",
		"KeystoneAPIReady AdminPasswordRefused", "Pod keystone-6d4b-x7k2p",
		"cannot reach mysql+pymysql://", "kubectl -n "+u.namespace+" logs keystone-6d4b-x7k2p -c keystone")
}

func TestALogIsQuotedWithoutItsCredentials(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	if r := u.run(t, "status"); strings.Contains(r.out, "in-a-log") {
		t.Errorf("a password is quoted:\n%s", r)
	}
}

func TestStatusListsWhatTheUserMayNotRead(t *testing.T) {
	u := as(t, "keystones-only")
	brokenKeystone(t, u.namespace)
	u.run(t, "status").expect(t, CodeNotReady, "KeystoneAPIReady AdminPasswordRefused", "Not shown",
		"you may not list pods in namespace "+u.namespace, "you may not list controlplanes.c5c3.io in namespace "+u.namespace,
		"you may not list jobs.batch in namespace "+u.namespace)
}

func TestWithoutPermissionsTheFirstMissingOneIsNamed(t *testing.T) {
	u := as(t, "nothing")
	brokenKeystone(t, u.namespace)
	for _, args := range [][]string{{"status"}, {"wait", "keystone/keystone"}, {"support-bundle"}, {"rotate", "fernet"}} {
		u.run(t, args...).expect(t, CodeMissingRight, "you may not list controlplanes.c5c3.io in namespace "+u.namespace)
	}
}

func TestStatusOfAReadyKeystoneExitsWithZero(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	u.run(t, "status", "keystone/keystone").expect(t, CodeOK, "is ready")
}

func TestStatusPrintsJSONAndYAML(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	var fromJSON, fromYAML struct{ Items []report.Report }
	if err := json.Unmarshal([]byte(u.run(t, "status", "-o", "json").out), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(u.run(t, "status", "-o", "yaml").out), &fromYAML); err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]report.Report{fromJSON.Items, fromYAML.Items} {
		if len(got) != 1 || got[0].Ready || got[0].Causes[0].Reason != keystonev1alpha1.ReasonAdminPasswordRefused {
			t.Errorf("got %+v", got)
		}
	}
}

func TestAKeystoneIsShownBelowItsControlPlane(t *testing.T) {
	u := as(t, "viewer")
	cp := store(t, u.namespace, testutil.ControlPlane(testutil.NotReady(false, testutil.False(c5c3v1alpha1.ConditionKeystoneReady,
		c5c3v1alpha1.ReasonWaitingForKeystone, "Keystone controlplane-keystone is not ready"))...))
	k := testutil.Installed(testutil.NotReady(false, testutil.False(vocabulary.ConditionDeploymentReady,
		vocabulary.ReasonWaitingForDeployment, "0 of 1 replicas available"))...)
	k.Name = cp.KeystoneName()
	k.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cp, c5c3v1alpha1.GroupVersion.WithKind("ControlPlane"))}
	store(t, u.namespace, k)
	u.run(t, "status").expect(t, CodeNotReady, "ControlPlane controlplane in namespace",
		"keystone/controlplane-keystone: DeploymentReady WaitingForDeployment", "└─ Keystone/controlplane-keystone")
}

func TestAPlacementCanBeATarget(t *testing.T) {
	u := as(t, "viewer")
	k := readyKeystone(t, u.namespace)
	store(t, u.namespace, testutil.Placement(testutil.NotReady(true, testutil.False(vocabulary.ConditionServiceUserReady,
		vocabulary.ReasonServiceUserRefused, "Keystone rejects the password in Secret placement-user"))...))
	u.run(t, "status", "placement/placement").expect(t, CodeNotReady,
		"ServiceUserReady ServiceUserRefused", "Keystone rejects the password in Secret placement-user",
		"kubectl -n "+u.namespace+" edit secret placement-user")
	u.run(t, "wait", "placement/placement", "--timeout=100ms").expect(t, CodeTimeout, "ServiceUserRefused")
	u.run(t, "login", "placement/placement", "--clouds-yaml").expect(t, CodeError, "specify a ControlPlane or a Keystone")
	u.run(t, "rotate", "fernet").expect(t, CodeNotReady, "there is no CronJob keystone-fernet-rotate")
	if err := admin.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	u.run(t, "rotate", "fernet").expect(t, CodeError, "there is no ControlPlane and no Keystone in namespace "+u.namespace)
	u.run(t, "upgrade", "placement/placement", "--to=2026.2", "--preflight").expect(t, CodeMissingRight, "you may not patch placements")
}

func TestStatusCoversAllNamespaces(t *testing.T) {
	u := user{namespace: env.Namespace(t), session: session(t, env.Config, "default")}
	brokenKeystone(t, u.namespace)
	u.run(t, "status", "--all-namespaces").expect(t, CodeNotReady, "Keystone keystone in namespace "+u.namespace)
}

func TestInvalidArgumentsAreAUsageError(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	for _, tc := range []struct{ args, want string }{
		{"status --colour", "unknown flag"},
		{"status -o xml", "choose table, json, yaml"},
		{"wait a b", "accepts at most 1 arg"},
		{"upgrade", "specify the release"},
		{"upgrade --to 2026.1 --abort", "--to and --abort cannot be combined"},
		{"upgrade --preflight --abort", "--preflight and --abort cannot be combined"},
		{"nonsense", "unknown command"},
		{"wait --timeout -5s", "cannot be negative"},
		{"rotate application-credential keystone/keystone", "name a ControlPlane"},
		{"status -A keystone", "cannot be combined with TARGET"},
		{"login --clouds-yaml -- true", "cannot be combined with"},
	} {
		u.run(t, strings.Fields(tc.args)...).expect(t, CodeUsage, tc.want)
	}
	u.run(t, "status", "keystone/other").expect(t, CodeError, "there is keystone/keystone")
}

func TestWaitReturnsWhenTheKeystoneIsReady(t *testing.T) {
	u := as(t, "viewer")
	k := brokenKeystone(t, u.namespace)
	end := u.start(t, "wait", "keystone/keystone")
	change(t, k, func(k *keystonev1alpha1.Keystone) {
		k.Status.Conditions = []metav1.Condition{testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)}
	})
	end().expect(t, CodeOK, "Ready", "AllReady")
}

func TestAWaitTimeoutReportsTheCause(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	u.run(t, "wait", "--timeout=100ms").expect(t, CodeTimeout, "Waiting for", "Run next", "timed out after 100ms")
}

func TestTheDoctorWorksWithTheRightsOfANamespaceUser(t *testing.T) {
	u := as(t, "viewer")
	u.run(t, "doctor").expect(t, CodeNotReady, "Kubernetes", "you may not list deployments.apps in the whole cluster",
		"Kinds of Keystone operator", "Permissions for rotate fernet, credential, password",
		"you may not create jobs.batch in namespace "+u.namespace)
}

func TestCompletionOffersExistingTargets(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	u.run(t, "__complete", "status", "").expect(t, CodeOK, "keystone/keystone")
}

func TestStatusWorkloadsDescribesANamespaceWithoutForgeResources(t *testing.T) {
	u := as(t, "viewer")
	u.run(t, "status").expect(t, CodeError, "there is no ControlPlane and no service in namespace "+u.namespace)
	u.run(t, "status", "--workloads").expect(t, CodeOK, "namespace "+u.namespace+" have no problems")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "operator"}}
	pod.Spec.Containers = []corev1.Container{{Name: "manager", Image: "operator"}}
	pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodPending, []corev1.ContainerStatus{
		testutil.Waiting("manager", "operator:typo", "ErrImagePull"),
	}
	store(t, u.namespace, pod)
	u.run(t, "status", "--workloads").expect(t, CodeNotReady, `pod operator cannot pull image "operator:typo"`, "describe pod operator")
}

func TestTheFlagsOfKubectlChooseClusterUserAndNamespace(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	c := u.session.Config
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["test"] = &api.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData}
	kubeconfig.AuthInfos["viewer"] = &api.AuthInfo{Token: c.BearerToken, Impersonate: c.Impersonate.UserName}
	kubeconfig.Contexts["viewer"] = &api.Context{Cluster: "test", AuthInfo: "viewer", Namespace: "elsewhere"}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]result{
		"--namespace=" + u.namespace: {code: CodeNotReady, out: "KeystoneAPIReady AdminPasswordRefused"},
		"--context=viewer":           {code: CodeMissingRight, err: "in namespace elsewhere"},
		"--context=none":             {code: CodeError, err: `context "none" does not exist`},
	} {
		var out, errOut strings.Builder
		code := Run(t.Context(), []string{"status", "--kubeconfig", path, "--context=viewer", args},
			genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
		result{code, out.String(), errOut.String()}.expect(t, want.code, want.out, want.err)
	}
}
