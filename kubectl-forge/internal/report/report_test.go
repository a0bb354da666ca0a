package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func visit(node Node, do func(Node)) {
	do(node)
	for _, child := range node.Children {
		visit(child, do)
	}
}

func build(t *testing.T, found *inventory.Inventory) *Report {
	t.Helper()
	r, err := Build(found, found.Roots()[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsReadyHasNoCausesAndNoAdvice(t *testing.T) {
	r := build(t, testutil.Ready())
	if !r.Ready || len(r.Causes)+len(r.LookAt)+len(r.Next) > 0 {
		t.Errorf("got ready=%t, causes %v, look at %v, next %v", r.Ready, r.Causes, r.LookAt, r.Next)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Condition != vocabulary.ConditionBackupHealthy {
		t.Errorf("got the warnings %v, expected the one about the backup", r.Warnings)
	}
}

func TestTheCauseOfAControlPlaneIsThatOfItsKeystone(t *testing.T) {
	r := build(t, testutil.BrokenService())
	var got []string
	for _, cause := range r.Causes {
		got = append(got, cause.Object+" "+cause.Condition)
	}
	want := []string{"keystone/controlplane-keystone DeploymentReady"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

func TestEachServiceOfAControlPlaneIsInItsTreeWithItsCauses(t *testing.T) {
	found := testutil.BrokenService()
	cp := &found.ControlPlanes[0]
	cp.Status.Conditions = append(cp.Status.Conditions, testutil.False(c5c3v1alpha1.ConditionPlacementReady,
		c5c3v1alpha1.ReasonWaitingForPlacement, "Placement controlplane-placement is not ready"))
	p := testutil.Placement(testutil.NotReady(false,
		testutil.False(vocabulary.ConditionServiceUserReady, vocabulary.ReasonServiceUserRefused, "refused"))...)
	p.ObjectMeta = testutil.Meta("controlplane-placement", cp, inventory.KindPlacement)
	found.Services = append(found.Services, testutil.Service(p))
	pod := testutil.APIPod(testutil.KeystoneIn(found), "controlplane-placement-5c6d-abcde", true, testutil.Running("placement", true))
	pod.Labels = placementv1alpha1.SelectorLabels(p.Name)
	found.Pods = append(found.Pods, pod)
	r := build(t, found)
	var causes, nodes []string
	for _, cause := range r.Causes {
		causes = append(causes, cause.Object+" "+cause.Condition)
	}
	if !slices.Contains(causes, "placement/controlplane-placement ServiceUserReady") {
		t.Errorf("got the causes %v", causes)
	}
	visit(r.Tree, func(node Node) { nodes = append(nodes, node.Kind+"/"+node.Name) })
	for _, want := range []string{"Keystone/controlplane-keystone", "Placement/controlplane-placement", "Pod/" + pod.Name} {
		if !slices.Contains(nodes, want) {
			t.Errorf("%s is not in the tree %v", want, nodes)
		}
	}
}

func TestEveryServiceKindHasItsControlPlaneReasons(t *testing.T) {
	parts := 0
	for _, kind := range inventory.ServiceKinds {
		words := []string{"WaitingFor" + kind.Kind}
		if commonv1.DataOf(kind.Empty()) != nil {
			words = append(words, "Finalizing"+kind.Kind)
		}
		for _, known := range c5c3v1alpha1.Vocabularies() {
			i := slices.IndexFunc(known.Conditions, func(c vocabulary.Condition) bool { return c.Type == kind.Kind+"Ready" })
			if known.Kind != inventory.KindControlPlane || i < 0 {
				// A service need not be a part of control planes.
				continue
			}
			parts++
			for _, word := range words {
				if !slices.Contains(known.Conditions[i].False, word) {
					t.Errorf("a ControlPlane does not say %s", word)
				}
			}
		}
	}
	if parts < 3 {
		t.Errorf("a ControlPlane has conditions for %d services", parts)
	}
}

func TestABlockedConditionIsNotACause(t *testing.T) {
	r := build(t, testutil.SealedStore())
	if len(r.Causes) != 1 || r.Causes[0].Condition != c5c3v1alpha1.ConditionDBCredentialsReady {
		t.Errorf("got %v, expected the condition that the others wait for", r.Causes)
	}
}

func TestAnUnobservedGenerationIsTheCause(t *testing.T) {
	found := testutil.Ready()
	testutil.KeystoneIn(found).Generation = 2
	r := build(t, found)
	if r.Ready || len(r.Causes) != 1 || r.Causes[0].Reason != ReasonNotObserved {
		t.Errorf("got ready=%t and %v", r.Ready, r.Causes)
	}
	if !strings.Contains(r.Causes[0].Message, "keystone-operator has observed generation 1 of the spec, but not yet 2") {
		t.Errorf("got %v, expected the operator", r.Causes)
	}
}

func TestAManagedKeystoneIsNotATopLevelTarget(t *testing.T) {
	found := testutil.BrokenService()
	want := []inventory.Ref{{Kind: inventory.KindControlPlane, Namespace: testutil.Namespace, Name: "controlplane"}}
	if diff := cmp.Diff(want, found.Roots()); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
}

func TestThePodNamedByACauseIsListedFirst(t *testing.T) {
	found := testutil.WrongImage()
	other := testutil.APIPod(testutil.KeystoneIn(found), "keystone-0000-other", false, testutil.Running("keystone", false))
	found.Pods = append([]corev1.Pod{other}, found.Pods...)
	r := build(t, found)
	if len(r.LookAt) != 2 || r.LookAt[0].Name != "keystone-db-sync-q8v4n" {
		t.Errorf("got %v", r.LookAt)
	}
}

func TestOnePodOfARetriedJobIsShown(t *testing.T) {
	for name, tc := range map[string]struct{ message, want string }{
		"the one that a cause names":   {"container db-sync of pod keystone-db-sync-first ended with exit code 1", "keystone-db-sync-first"},
		"the last one when none names": {"the database schema is not installed", "keystone-db-sync-last"},
	} {
		t.Run(name, func(t *testing.T) {
			found := testutil.UnreachableDatabase()
			testutil.KeystoneIn(found).Status.Conditions[0].Message = tc.message
			first := testutil.JobPod(&found.Jobs[0], "keystone-db-sync-first", testutil.Ended("db-sync", "no database"))
			last := testutil.JobPod(&found.Jobs[0], "keystone-db-sync-last", testutil.Ended("db-sync", "no database"))
			first.CreationTimestamp, last.CreationTimestamp = testutil.Ago(5*time.Minute), testutil.Ago(4*time.Minute)
			found.Pods = []corev1.Pod{last, first}
			if r := build(t, found); len(r.LookAt) != 1 || r.LookAt[0].Name != tc.want {
				t.Errorf("got %v, expected %s alone", r.LookAt, tc.want)
			}
		})
	}
}

func TestAKeystoneThatServesWithoutItsCacheIsWarnedOf(t *testing.T) {
	const remark = "the cache at memcached:11211 does not answer, so that requests take longer; check its name"
	for name, tc := range map[string]struct{ message, want string }{
		"with a cache":    {"Keystone API is responding at http://keystone:5000/v3", ""},
		"without a cache": {"Keystone API is responding at http://keystone:5000/v3; " + remark, remark},
	} {
		t.Run(name, func(t *testing.T) {
			healthy := testutil.True(keystonev1alpha1.ConditionKeystoneAPIReady, vocabulary.ReasonAPIHealthy)
			healthy.Message = tc.message
			r := build(t, testutil.Of(testutil.Installed(healthy, testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))))
			var got string
			for _, warning := range r.Warnings {
				got += warning.Message
			}
			if !r.Ready || got != tc.want {
				t.Errorf("got ready=%t and the warnings %+v", r.Ready, r.Warnings)
			}
		})
	}
}

func TestOnlyTheLatestRunOfACronJobIsShown(t *testing.T) {
	found := testutil.Ready()
	cronJob := &found.CronJobs[0]
	older, newer := testutil.Job(cronJob, "older", "Failed"), testutil.Job(cronJob, "newer", "Complete")
	older.CreationTimestamp = testutil.Ago(time.Hour)
	found.Jobs = append(found.Jobs, newer, older)
	var names []string
	visit(build(t, found).Tree, func(node Node) { names = append(names, node.Name) })
	if slices.Contains(names, "older") || !slices.Contains(names, "newer") {
		t.Errorf("the tree has %v", names)
	}
}

func TestAJobBetweenTwoAttemptsSaysHowManyFailed(t *testing.T) {
	for _, tc := range []struct {
		status batchv1.JobStatus
		want   string
	}{
		{batchv1.JobStatus{}, "has no pod yet"},
		{batchv1.JobStatus{Failed: 2}, "waits for the next attempt, 2 failed"},
		{batchv1.JobStatus{Active: 1, Failed: 2}, "running"},
	} {
		k := testutil.Keystone()
		found := testutil.Of(k)
		run := testutil.Job(k, "keystone-db-sync")
		run.Status = tc.status
		found.Jobs = append(found.Jobs, run)
		var texts []string
		visit(build(t, found).Tree, func(node Node) { texts = append(texts, node.Name+": "+node.Text) })
		if want := "keystone-db-sync: " + tc.want; !slices.Contains(texts, want) {
			t.Errorf("the tree has %q, expected %q", texts, want)
		}
	}
}

func TestAReferencedMariaDBIsInTheTree(t *testing.T) {
	found := testutil.Ready()
	testutil.KeystoneIn(found).Spec.Database.Host = ""
	testutil.KeystoneIn(found).Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"}
	found.ThirdParty = []unstructured.Unstructured{
		testutil.ThirdParty("k8s.mariadb.com/v1alpha1", "MariaDB", "mariadb", nil, testutil.False("Ready", "Broken", "no primary")),
		testutil.ThirdParty("k8s.mariadb.com/v1alpha1", "MariaDB", "another", nil, testutil.True("Ready", "Running")),
	}
	first := build(t, found).Tree.Children[0]
	if first.Name != "mariadb" || first.State != StateWaiting || first.Text != "Broken: no primary" {
		t.Errorf("got %+v", first)
	}
}

func TestAMissingTargetIsReported(t *testing.T) {
	_, err := Build(testutil.Ready(), inventory.Ref{Kind: inventory.KindControlPlane, Namespace: "openstack", Name: "gone"})
	if err == nil || !strings.Contains(err.Error(), "controlplane/gone") {
		t.Errorf("got %v", err)
	}
}

func TestARestartingContainerIsExplainedByItsLastLog(t *testing.T) {
	status := testutil.Waiting("keystone", "", "CrashLoopBackOff")
	status.RestartCount, status.LastTerminationState.Terminated = 3, testutil.Ended("keystone", "boom").State.Terminated
	found := testutil.BrokenService()
	found.Pods[0].Status.ContainerStatuses[0] = status
	exhibit := build(t, found).LookAt[0]
	if !exhibit.Previous || exhibit.Container != "keystone" || !strings.Contains(exhibit.Problem, "boom") {
		t.Errorf("got %+v", exhibit)
	}
}

func TestOnlyTheCauseInALogIsQuoted(t *testing.T) {
	log := "one\ntwo\n2026-11-23 11:56:00.000 1 INFO keystone [-] three\nfour\nfive\n"
	if got, want := Quote(log), "three\nfour\nfive"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
	traceback := "Traceback (most recent call last):\n  File \"x.py\"\nValueError: no key\nbye\n"
	if got, want := Quote(traceback), "ValueError: no key"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}

func TestADeploymentScaledToZeroIsReported(t *testing.T) {
	found := testutil.Ready()
	if w := BuildWorkloads(found); len(w.LookAt) > 0 {
		t.Fatalf("before that, something is wrong with %v", w.LookAt)
	}
	found.Deployments[0].Spec.Replicas, found.Pods = new(int32(0)), nil
	w := BuildWorkloads(found)
	if len(w.LookAt) != 1 || w.LookAt[0].Kind != "Deployment" || !strings.Contains(w.LookAt[0].Problem, "scaled to 0") {
		t.Errorf("got %v", w.LookAt)
	}
	if want := []string{"kubectl -n openstack scale deployment keystone --replicas=1"}; !slices.Equal(w.Next, want) {
		t.Errorf("got %q, expected %q", w.Next, want)
	}
}

func TestPodsAreShownToAUserWhoMayNotSeeTheirOwners(t *testing.T) {
	found := testutil.WrongImage()
	for i := range found.Pods {
		if found.Pods[i].OwnerReferences != nil {
			found.Pods[i].Labels = map[string]string{labelName: keystonev1alpha1.TaskName, labelInstance: "keystone"}
		}
	}
	found.Deployments, found.Jobs = nil, nil
	var names []string
	for _, child := range build(t, found).Tree.Children {
		names = append(names, child.Kind+"/"+child.Name)
	}
	want := []string{"Pod/keystone-6d4b-x7k2p", "Pod/keystone-db-sync-q8v4n"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
}
