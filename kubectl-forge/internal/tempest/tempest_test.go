package tempest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func jobFor(t *testing.T, k *keystonev1alpha1.Keystone) *batchv1.Job {
	t.Helper()
	run, err := Job(k, Image)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestTheJobHasThePasswordOnlyAsAReference(t *testing.T) {
	k := testutil.Installed()
	k.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	golden.CompareYAML(t, "job.yaml", jobFor(t, k))
}

func TestTheGeneratedJobNameOfALongTargetIsValid(t *testing.T) {
	k := testutil.Installed()
	k.Name = strings.Repeat("k", 63)
	if name := jobFor(t, k).GenerateName; len(name)+5 > 63 {
		t.Errorf("%s is too long", name)
	}
}

const log = `+ tempest run
tests 5
passed tempest.api.identity.v3.test_a.A.test_one 0.31
skipped tempest.api.identity.v3.test_a.A.test_two no LDAP
  failed to see why
failed
passed tempest.api.identity.v3.test_b.B.test_one 0.10
failed tempest.api.identity.v3.test_b.B.test_two 1.02
tests are fun
`

func TestResultsAreCountedInALog(t *testing.T) {
	want := Counts{Total: 5, Passed: 2, Skipped: 1, Failed: 1}
	if diff := cmp.Diff(want, Read(log)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Read(""); got != (Counts{}) {
		t.Errorf("got %v from an empty log", got)
	}
}

// facts are those of a run that has ended in a way, or not, with a termination message.
func facts(message string, conditions ...batchv1.JobConditionType) Facts {
	run := testutil.Job(nil, "keystone-tempest-x", conditions...)
	status := testutil.Running(Container, true)
	if len(conditions) > 0 {
		status = testutil.Ended(Container, message)
	}
	pod := testutil.JobPod(&run, "keystone-tempest-x-y", status)
	return Facts{Job: &run, Pods: []corev1.Pod{pod}, Log: log}
}

// texts are the rows of the view.
func texts(f Facts) string {
	var out strings.Builder
	for _, row := range View(f).Rows {
		out.WriteString(row.Name + " " + row.State + " " + row.Text + "\n")
	}
	return out.String()
}

func TestTheProgressOfARunIsShown(t *testing.T) {
	running := facts("")
	want := "Job Run keystone-tempest-x\nTests Run 4 of 5: 2 passed, 1 skipped, 1 failed\n"
	if got := texts(running); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	running.Coarse = 3
	if got := texts(running); got != "Job Run keystone-tempest-x\nTests Run 3 of 5\n" {
		t.Errorf("got %q", got)
	}
	running.Log = ""
	if view := View(running); len(view.Rows) != 1 || view.Done || view.Failed != nil {
		t.Errorf("got %+v", view)
	}
}

func TestARunThatHasPassedIsDone(t *testing.T) {
	passed := facts(`{"passed": 171, "skipped": 27, "failed": 0}`, batchv1.JobComplete)
	if view := View(passed); !view.Done || view.Failed != nil {
		t.Errorf("got %+v", view)
	}
	summary, found := SummaryOf(passed.Pods)
	if !found || summary.String() != "171 passed, 27 skipped, 0 failed" {
		t.Errorf("got %v, %t", summary, found)
	}
}

func TestARunThatHasFailedNamesItsTests(t *testing.T) {
	failed := facts(`{"passed": 1, "skipped": 0, "failed": 2, "failures": ["a.B.test_c", "a.B.test_d"]}`, batchv1.JobFailed)
	err := View(failed).Failed
	want := `1 passed, 0 skipped, 2 failed: a.B.test_c, a.B.test_d; "kubectl -n openstack logs job/keystone-tempest-x" shows more`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestARunWithoutASummaryQuotesThePodOutput(t *testing.T) {
	err := View(facts("cannot log in", batchv1.JobFailed)).Failed
	if err == nil || !strings.Contains(err.Error(), "cannot log in") || !strings.Contains(err.Error(), "logs job/keystone-tempest-x") {
		t.Errorf("got %v", err)
	}
	gone := facts("", batchv1.JobFailed)
	gone.Pods = nil
	if err := View(gone).Failed; err == nil || !strings.Contains(err.Error(), "its pod no longer exists") {
		t.Errorf("got %v", err)
	}
	odd := facts(`{"passed": 3}`, batchv1.JobFailed)
	if err := View(odd).Failed; err == nil || !strings.Contains(err.Error(), "3 passed, 0 skipped, 0 failed, but the Job failed") {
		t.Errorf("got %v", err)
	}
}

func TestAnImageThatCannotBePulledEndsTheWait(t *testing.T) {
	run := testutil.Job(nil, "keystone-tempest-x")
	pod := testutil.JobPod(&run, "keystone-tempest-x-y", testutil.Waiting(Container, Image, "ImagePullBackOff"))
	err := View(Facts{Job: &run, Pods: []corev1.Pod{pod}}).Failed
	if err == nil || !strings.Contains(err.Error(), "--tempest-image") {
		t.Errorf("got %v", err)
	}
}
