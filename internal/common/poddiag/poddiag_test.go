package poddiag

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pod(name string, age time.Duration, statuses ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1_000_000, 0).Add(-age))},
		Status:     corev1.PodStatus{ContainerStatuses: statuses},
	}
}

func waiting(reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", Image: "example.com/app:1", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "details"},
	}}
}

func leaving(p corev1.Pod) corev1.Pod {
	p.DeletionTimestamp = &p.CreationTimestamp
	return p
}

func restarted(ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: "main", Ready: ready,
		State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		LastTerminationState: ended(7, "earlier crash").State,
	}
}

// assigned returns the pod as if it had been assigned to its node for the given
// time.
func assigned(since time.Duration, p corev1.Pod) corev1.Pod {
	p.Status.StartTime = &metav1.Time{Time: time.Now().Add(-since)}
	return p
}

func ended(code int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message},
	}}
}

func TestTheReasonWhyPodsDoNotRunIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		pods     []corev1.Pod
		want     string
		wantPull bool
	}{
		"none": {pods: []corev1.Pod{pod("a", 0, corev1.ContainerStatus{Ready: true})}},
		"an image cannot be pulled": {
			[]corev1.Pod{pod("a", 0, waiting("ImagePullBackOff"))}, `pod a cannot pull image "example.com/app:1"; check spec.image`, true,
		},
		"an image has no valid name": {
			[]corev1.Pod{pod("a", 0, waiting("InvalidImageName"))}, `cannot use image "example.com/app:1" (InvalidImageName)`, true,
		},
		"an image may not be pulled": {
			[]corev1.Pod{pod("a", 0, waiting("ErrImageNeverPull"))}, `cannot use image "example.com/app:1" (ErrImageNeverPull)`, true,
		},
		"a container crashed and is not ready yet": {[]corev1.Pod{pod("a", 0, restarted(false))}, "exit code 7: earlier crash", false},
		"a container crashed and is ready again":   {pods: []corev1.Pod{pod("a", 0, restarted(true))}},
		"a pod that is being deleted":              {pods: []corev1.Pod{leaving(pod("a", 0, ended(143, "")))}},
		"a pod that is being deleted and has no image": {
			pods: []corev1.Pod{leaving(pod("a", 0, waiting("ImagePullBackOff")))},
		},
		"a container ends":         {[]corev1.Pod{pod("a", 0, ended(3, "boom"))}, "ended with exit code 3: boom", false},
		"a success is no obstacle": {pods: []corev1.Pod{pod("a", 0, ended(0, ""))}},
		"configuration is missing": {
			[]corev1.Pod{pod("a", 0, waiting("CreateContainerConfigError"))}, "cannot start (CreateContainerConfigError): details", false,
		},
		"a wait that is normal": {pods: []corev1.Pod{assigned(time.Second, pod("a", 0, waiting("ContainerCreating")))}},
		"a volume that cannot be mounted": {
			[]corev1.Pod{assigned(time.Hour, pod("a", 0, waiting("ContainerCreating")))}, "pod a waits for a volume or its network", false,
		},
		"a cause outweighs a wait": {[]corev1.Pod{
			assigned(time.Hour, pod("new", 0, waiting("ContainerCreating"))), pod("old", time.Hour, ended(1, "the cause")),
		}, "the cause", false},
		"the newest pod counts": {
			[]corev1.Pod{pod("old", time.Hour, ended(1, "old cause")), pod("new", 0, ended(2, "new cause"))}, "new cause", false,
		},
		"a missing image outweighs the rest": {
			[]corev1.Pod{pod("new", 0, ended(1, "other")), pod("old", time.Hour, waiting("ErrImagePull"))}, "cannot pull image", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, pull := Problem(test.pods)
			if pull != test.wantPull || !strings.Contains(got, test.want) || (test.want == "" && got != "") {
				t.Errorf("got %q (image pull %t), want %q (%t)", got, pull, test.want, test.wantPull)
			}
		})
	}
}

func TestAPodStuckTerminatingIsReportedAfterALimit(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, test := range map[string]struct {
		pods  []corev1.Pod
		want  string
		again time.Duration
	}{
		"no pod is about to end":        {pods: []corev1.Pod{pod("a", time.Hour)}},
		"one is still within its grace": {pods: []corev1.Pod{leaving(pod("a", -5*time.Second))}, again: endLimit + 5*time.Second},
		"one should have ended":         {pods: []corev1.Pod{leaving(pod("a", 20*time.Second))}, again: endLimit - 20*time.Second},
		"one is overdue":                {pods: []corev1.Pod{pod("b", 0), leaving(pod("a", endLimit))}, want: "pod a should have ended"},
	} {
		t.Run(name, func(t *testing.T) {
			text, again := Unconfirmed(test.pods, now)
			if !strings.HasPrefix(text, test.want) || (test.want == "") != (text == "") || again != test.again {
				t.Errorf("got %q, again after %s; want %q, %s", text, again, test.want, test.again)
			}
		})
	}
}

func TestAFailedImagePullIsReportedWithAStableMessage(t *testing.T) {
	want, _ := Problem([]corev1.Pod{pod("a", 0, waiting("ErrImagePull"))})
	for _, reason := range []string{"ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed"} {
		if got, pull := Problem([]corev1.Pod{pod("a", 0, waiting(reason))}); got != want || !pull {
			t.Errorf("%s reads %q (image pull %t), want %q", reason, got, pull, want)
		}
	}
}

func TestTheExitCodeIsTakenFromTheNewestPodNotBeingDeleted(t *testing.T) {
	list := []corev1.Pod{
		pod("old", time.Hour, ended(1, "")), pod("new", time.Minute, ended(2, "")), leaving(pod("leaving", 0, ended(143, ""))),
	}
	if got := ExitCode(list); got != 2 {
		t.Errorf("got exit code %d, want 2", got)
	}
	if got := ExitCode(list[2:]); got != 0 {
		t.Errorf("got exit code %d of a pod that is told to end, want 0", got)
	}
}

func TestAPodThatCannotBeScheduledSaysWhy(t *testing.T) {
	p := pod("a", 0)
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: 1 Insufficient cpu.",
	}}
	if got, _ := Problem([]corev1.Pod{p}); !strings.Contains(got, "cannot be scheduled") || !strings.Contains(got, "Insufficient cpu") {
		t.Errorf("got %q, want the scheduler's message", got)
	}
}

func TestAPodThatFitsNoNodeNamesTheFieldToChange(t *testing.T) {
	for problem, want := range map[string]string{
		"1 node(s) didn't match Pod's node affinity/selector":                "; change spec.nodeSelector",
		"1 node(s) had untolerated taint {a: }, 1 Insufficient cpu":          "; add a node, or lower spec.resources",
		"1 node(s) had untolerated taint {infra: true}":                      "; add the taint to spec.tolerations",
		"1 node(s) didn't match pod anti-affinity rules":                     "; change spec.affinity",
		"1 node(s) didn't match pod topology spread constraints":             "; change spec.topologySpreadConstraints",
		`persistentvolumeclaim "data" not found`:                             "; create or repair the claim",
		"pod has unbound immediate PersistentVolumeClaims":                   "; create or repair the claim",
		"1 node(s) had volume node affinity conflict, 1 Insufficient memory": "nodes that can mount the claim",
	} {
		message := "0/2 nodes are available: " + problem
		if got := unscheduled(message + "."); !strings.HasPrefix(got, message+"; ") || !strings.Contains(got, want) {
			t.Errorf("%s: got %s", message, got)
		}
	}
	if got := unscheduled("no nodes available"); got != "no nodes available" {
		t.Errorf("got %q of a message without a remedy", got)
	}
}

func TestTheCauseIsExtractedFromPythonOutput(t *testing.T) {
	refused := `2026-11-21 03:59:25.683 7 INFO alembic.runtime.migration [-] Context impl MySQLImpl.
2026-11-21 03:59:26.120 7 CRITICAL keystone [-] Unhandled error
2026-11-21 03:59:26.121 7 ERROR keystone Traceback (most recent call last):
2026-11-21 03:59:26.121 7 ERROR keystone   File "/usr/lib/python3/dist-packages/pymysql/err.py", line 143
2026-11-21 03:59:26.122 7 ERROR keystone sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (1045, "Access denied")
2026-11-21 03:59:26.122 7 ERROR keystone (Background on this error at: https://sqlalche.me/e/14/e3q8)
2026-11-21 03:59:26.122 7 ERROR keystone` + " \x1b[00m\n" + `Exception ignored in: <function _removeHandlerRef at 0x7f2173d9cd60>
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 855, in _removeHandlerRef
AttributeError: 'NoneType' object has no attribute 'getcurrent'`
	const usage = "usage: tool [-h]\ntool: error: argument --debug: Invalid Boolean value: maybe"
	const plain = "[token] expiration: Value for option expiration is not valid"
	for name, test := range map[string]struct{ output, want string }{
		"a refused password": {refused, `sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (1045, "Access denied")`},
		"a usage message":    {usage, usage},
		"a plain message":    {plain, plain},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Output(test.output); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestQuotedOutputIsShortAndHoldsNoCredentials(t *testing.T) {
	output := strings.Repeat("a long line of a trace\n", 100) + "failed to connect to mysql+pymysql://keystone:s3cret%40@db:3306/keystone"
	got := Output(output)
	if strings.Contains(got, "s3cret") || strings.Contains(got, "keystone:") {
		t.Errorf("credentials in %q", got)
	}
	if !strings.HasSuffix(got, "://***@db:3306/keystone") || len(got) > maxOutput {
		t.Errorf("got %d bytes ending in %q, want the last lines, at most %d bytes", len(got), got[len(got)-30:], maxOutput)
	}
}

func TestContainerOutputIsQuotedOnOneLineWithoutSecrets(t *testing.T) {
	const key, password = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MDA=", "pa/ss w@rd"
	p := pod("p", 0, corev1.ContainerStatus{Name: "db-sync", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Message: "url mysql+pymysql://keystone:a/b@c@db/keystone\r\nlogin {'password': '" + password +
			"'}\n\tkey " + key + "\n\x1b]0;title\x07admin pa%2Fss+w%40rd\u202e",
	}}})
	const want = "container db-sync of pod p ended with exit code 1: " +
		"url mysql+pymysql://***@db/keystone; login {'password': '***'}; key ***; ]0;titleadmin ***"
	got, _ := Problem([]corev1.Pod{p}, "", password)
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestASecretIsHiddenInJSON(t *testing.T) {
	if got := hide(`{"password": "a \"b\" \u003c"}`, []string{`a "b" <`}); got != `{"password": "`+blank+`"}` {
		t.Errorf("got %s", got)
	}
}

func TestASecretIsHiddenWhereTheQuotedTextIsCut(t *testing.T) {
	password := strings.Repeat("s3cret", 10)
	for _, before := range []int{maxOutput - 30, maxOutput - 10, maxOutput + 10} {
		p := pod("p", 0, corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Message: "SomeError: " + strings.Repeat("x", before) + password + strings.Repeat("y", maxOutput-30),
		}}})
		if got, _ := Problem([]corev1.Pod{p}, password); strings.Contains(got, "s3c") {
			t.Errorf("a part of the password is in %q", got)
		}
	}
}
