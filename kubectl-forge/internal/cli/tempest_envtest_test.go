//go:build integration

package cli

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/kubectl-forge/internal/tempest"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

// tested is a user who may do all that the tests need, with a Keystone that passes every other check.
func tested(t *testing.T) user {
	t.Helper()
	u := in(t, env.Namespace(t), "")
	serving(t, &u, readyKeystone(t, u.namespace))
	u.session.Logs = logs("tests 30\n" + strings.Repeat("passed a.B.test_c\n", 30))
	return u
}

// end ends the Job of the tests with a termination message.
func end(t *testing.T, u user, how batchv1.JobConditionType, message string) {
	t.Helper()
	run := startedJob(t, u.namespace)
	pod := testutil.JobPod(run, run.Name+"-y", testutil.Ended(tempest.Container, message))
	pod.OwnerReferences = nil
	pod.Labels = map[string]string{batchv1.JobNameLabel: run.Name}
	pod.Spec.Containers = []corev1.Container{{Name: tempest.Container, Image: tempest.Image}}
	store(t, u.namespace, &pod)
	finish(t, run, how)
}

func TestTempestRunsInAJob(t *testing.T) {
	u := tested(t)
	result := u.start(t, "verify", "--tempest")
	end(t, u, batchv1.JobComplete, `{"passed": 30, "skipped": 0, "failed": 0}`)
	result().expect(t, CodeOK, "Tests                      Done   30 of 30", "OK       Tempest ", "30 passed, 0 skipped, 0 failed",
		"all 8 checks passed")
}

func TestAFailedTestIsNamed(t *testing.T) {
	u := tested(t)
	result := u.start(t, "verify", "--tempest", "--tempest-image", "registry.example.com/tempest:43", "-o", "json")
	end(t, u, batchv1.JobFailed, `{"passed": 29, "skipped": 0, "failed": 1, "failures": ["a.B.test_c"]}`)
	r := result()
	r.expect(t, CodeNotReady, `"passed": false`, "29 passed, 0 skipped, 1 failed: a.B.test_c")
	if !strings.HasPrefix(r.out, "{") {
		t.Errorf("the document is not all there is:\n%s", r)
	}
	if image := startedJob(t, u.namespace).Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/tempest:43" {
		t.Errorf("the image is %s", image)
	}
}

func TestTempestContinuesAfterATimeout(t *testing.T) {
	tested(t).run(t, "verify", "--tempest", "--timeout", "100ms").expect(t, CodeTimeout, "Unknown  Tempest ", "timed out after 100ms",
		"the tests continue", "1 of 8 checks did not pass")
}

func TestTempestContinuesAfterAnInterrupt(t *testing.T) {
	u := tested(t)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan result, 1)
	go func() { ended <- u.runUntil(ctx, "verify", "--tempest") }()
	run := startedJob(t, u.namespace)
	interrupt()
	(<-ended).expect(t, CodeInterrupted, "the tests continue", "kubectl -n "+u.namespace+" logs -f job/"+run.Name)
	if left := startedJob(t, u.namespace); left.UID != run.UID {
		t.Errorf("got %v", left)
	}
}

func TestNoTestsRunAfterAFailedCheck(t *testing.T) {
	u := in(t, env.Namespace(t), "")
	serving(t, &u, readyKeystone(t, u.namespace)).Catalog["identity admin"] = "http://keystone:1"
	u.run(t, "verify", "--tempest").expect(t, CodeNotReady, `not checked: "Endpoint identity admin RegionOne" did not pass`)
}

func TestTheTestsNeedThePermissionToCreateAJob(t *testing.T) {
	u := as(t, "verifier")
	serving(t, &u, readyKeystone(t, u.namespace))
	u.run(t, "verify", "--tempest").expect(t, CodeMissingRight, "you may not create jobs.batch in namespace "+u.namespace)
}
