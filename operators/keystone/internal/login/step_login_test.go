package login

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestPasswordLoginsAreDetectedFromTheAuthMethods(t *testing.T) {
	for methods, want := range map[string]bool{
		"password": true, "external,password, token": true, "token,password": true,
		"": false, "external,token": false, "password_but_not_quite": false,
	} {
		if got := takesPasswords(ini.File{"auth": {"methods": methods}}); got != want {
			t.Errorf("with methods %q: %t, want %t", methods, got, want)
		}
	}
	if !takesPasswords(ini.File{}) {
		t.Error("Keystone takes passwords by default")
	}
}

func TestRetriesOfARefusedPasswordStayBelowTheLockoutLimit(t *testing.T) {
	for attempts, want := range map[string]int{"1": 0, "2": 0, "3": 1, " 6 ": 4, "many": 0, "0": 0} {
		options := ini.File{"security_compliance": {"lockout_failure_attempts": attempts}}
		if got := refusedRetries(options); got != want {
			t.Errorf("with lockout_failure_attempts %q: %d, want %d", attempts, got, want)
		}
	}
	if got := refusedRetries(ini.File{}); got >= 0 {
		t.Errorf("without a lockout: %d, want no bound", got)
	}
}

// withConditions is a Keystone of generation 1 with the conditions.
func withConditions(conditions ...metav1.Condition) *keystonev1alpha1.Keystone {
	k := fixture.Minimal()
	k.Generation = 1
	k.Status.Conditions = conditions
	return k
}

func condition(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: "as before", ObservedGeneration: 1}
}

func TestAnUnexplainedLoginErrorIsAttributedToAKnownFailure(t *testing.T) {
	noKeys := condition(keystonev1alpha1.ConditionFernetKeysReady, metav1.ConditionFalse, vocabulary.ReasonKeysMissing)
	noDatabase := condition(vocabulary.ConditionDatabaseReady, metav1.ConditionFalse, vocabulary.ReasonClusterNotReady)
	for title, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		found    ask.Verdict
		want     ask.Verdict
	}{
		"nothing is known":         {withConditions(), proof.Erred, proof.Erred},
		"the keys are missing":     {withConditions(noKeys), proof.Erred, proof.KeysFailed},
		"the database is away":     {withConditions(noDatabase), proof.Erred, proof.DatabaseFailed},
		"Keystone knows it better": {withConditions(noDatabase), proof.CacheFailed, proof.CacheFailed},
		"it is no error":           {withConditions(noDatabase), proof.Odd, proof.Odd},
	} {
		t.Run(title, func(t *testing.T) {
			if got := blamed(test.keystone, test.found); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestTheLastLoginResultSurvivesAnOperatorRestart(t *testing.T) {
	const api = keystonev1alpha1.ConditionKeystoneAPIReady
	bootstrapped := condition(keystonev1alpha1.ConditionBootstrapReady, metav1.ConditionTrue, keystonev1alpha1.ReasonBootstrapComplete)
	older := condition(api, metav1.ConditionTrue, vocabulary.ReasonAPIHealthy)
	older.ObservedGeneration = 0
	for title, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		want     string
	}{
		"nothing":             {withConditions(), keystonev1alpha1.ReasonLoginPending},
		"about an older spec": {withConditions(older, bootstrapped), keystonev1alpha1.ReasonLoginPending},
		"healthy": {
			withConditions(condition(api, metav1.ConditionTrue, vocabulary.ReasonAPIHealthy), bootstrapped),
			vocabulary.ReasonAPIHealthy,
		},
		"healthy before a bootstrap": {
			withConditions(condition(api, metav1.ConditionTrue, vocabulary.ReasonAPIHealthy)), keystonev1alpha1.ReasonLoginPending,
		},
		"refused": {
			withConditions(condition(api, metav1.ConditionFalse, keystonev1alpha1.ReasonAdminPasswordRefused)),
			keystonev1alpha1.ReasonAdminPasswordRefused,
		},
		"failed": {
			withConditions(condition(api, metav1.ConditionFalse, keystonev1alpha1.ReasonDatabaseUnavailable), bootstrapped),
			keystonev1alpha1.ReasonDatabaseUnavailable,
		},
		"the API did not answer": {
			withConditions(condition(api, metav1.ConditionFalse, vocabulary.ReasonConnectionFailed), bootstrapped),
			keystonev1alpha1.ReasonLoginPending,
		},
	} {
		t.Run(title, func(t *testing.T) {
			if got := standing(test.keystone).Reason(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// ownOptions are those of the operator that a login depends on.
var ownOptions = ini.File{"identity": {"default_domain_id": "default"}}

func TestAPasswordRefusalSurvivesARestartUntilBootstrapRunsAgain(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	service.Config.Put(s.Slots, service.Rendered{Options: ownOptions})
	last := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "keystone-bootstrap", UID: "one"}}
	pass.BootstrapJob.Put(s.Slots, last)
	refused := condition(keystonev1alpha1.ConditionKeystoneAPIReady, metav1.ConditionFalse, keystonev1alpha1.ReasonAdminPasswordRefused)
	refused.Message = targetOf(s, nil, nil).Refusal
	s.Resource.Status.Conditions = []metav1.Condition{refused}
	if targetOf(s, nil, nil).Before != ask.Rejected {
		t.Error("the password would be tried again")
	}
	last.CreationTimestamp = metav1.Now()
	if targetOf(s, nil, nil).Before == ask.Rejected {
		t.Error("the password would not be tried although bootstrap has run again")
	}
}

// withRefusal is a pass over a Keystone whose condition says that the password of the bootstrap Job was
// refused, in the given words.
func withRefusal(t *testing.T, words string) (*pass.Scope, *batchv1.Job) {
	t.Helper()
	s := fixture.Scope(fixture.Minimal())
	service.Config.Put(s.Slots, service.Rendered{Options: ownOptions})
	last := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: "keystone-bootstrap", UID: "one", CreationTimestamp: metav1.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC),
	}}
	pass.BootstrapJob.Put(s.Slots, last)
	refused := condition(keystonev1alpha1.ConditionKeystoneAPIReady, metav1.ConditionFalse, keystonev1alpha1.ReasonAdminPasswordRefused)
	refused.Message = words
	s.Resource.Status.Conditions = []metav1.Condition{refused}
	return s, last
}

func TestARefusalInOtherWordsIsKnownByTheJob(t *testing.T) {
	s, last := withRefusal(t, "in other words")
	if got := targetOf(s, nil, nil).Before; got != ask.Unproven {
		t.Errorf("got %q although nothing says which Job it was", got)
	}
	s.Resource.Annotations = map[string]string{annotationRefused: string(last.UID)}
	if got := targetOf(s, nil, nil).Before; got != ask.Rejected {
		t.Errorf("got %q, so the password would be tried again", got)
	}
	last.UID = "two"
	if got := targetOf(s, nil, nil).Before; got != ask.Unproven {
		t.Errorf("got %q although bootstrap has run again", got)
	}
}

func TestARefusalThatTheLastReleaseHasReportedIsKnown(t *testing.T) {
	s, last := withRefusal(t, "Keystone rejects the password of admin under password of Secret keystone-admin, which "+
		"Job keystone-bootstrap of 2026-11-28T09:30:00Z has set: it was changed there, or the user was locked or disabled; "+
		"correct the Secret, or have bootstrap set the password again with another value of the annotation keystone.openstack.c5c3.io/run-again")
	if got := targetOf(s, nil, nil).Before; got != ask.Rejected {
		t.Errorf("got %q, so the password would be tried again", got)
	}
	last.CreationTimestamp = metav1.Date(2026, 11, 28, 9, 31, 0, 0, time.UTC)
	if got := targetOf(s, nil, nil).Before; got != ask.Unproven {
		t.Errorf("got %q although bootstrap has run again", got)
	}
}

func TestALoginIsProvenAgainWhenItsInputsChange(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	service.Config.Put(s.Slots, service.Rendered{Options: ownOptions})
	pass.BootstrapJob.Put(s.Slots, &batchv1.Job{})
	health.RolloutOf.Put(s.Slots, health.Rollout{State: "1/1/1/1", Serving: true})
	made := map[string][]byte{"0": []byte("a"), "1": []byte("b")}
	before := targetOf(s, nil, made)
	if before.Wait || before.User != "admin" || before.Domain != "default" || string(before.Password) != "hunter2-admin" {
		t.Errorf("the login is %+v", before)
	}
	if targetOf(s, nil, map[string][]byte{"0": []byte("b"), "1": []byte("a")}).Inputs == before.Inputs {
		t.Error("other keys make no difference")
	}
	pod := func(uid types.UID, deleted *metav1.Time) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, DeletionTimestamp: deleted}}
	}
	one := targetOf(s, []corev1.Pod{pod("one", nil)}, made).Inputs
	if targetOf(s, []corev1.Pod{pod("two", nil)}, made).Inputs == one {
		t.Error("a pod in the place of another makes no difference")
	}
	if targetOf(s, []corev1.Pod{pod("one", nil), pod("old", ptr.To(metav1.Now()))}, made).Inputs != one {
		t.Error("a pod that is going makes a difference")
	}
	health.RolloutOf.Put(s.Slots, health.Rollout{State: "1/1/2/2", Serving: true})
	if targetOf(s, nil, made).Inputs == before.Inputs {
		t.Error("other pods make no difference")
	}
	health.RolloutOf.Put(s.Slots, health.Rollout{State: "1/1/2/2"})
	if !targetOf(s, nil, made).Wait {
		t.Error("a login is tried although no pod serves")
	}
}

func TestEveryLoginVerdictHasAReason(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	for _, verdict := range []ask.Verdict{
		ask.Unproven, ask.Pending, ask.Accepted, ask.Rejected, proof.Uncached, proof.DatabaseFailed, proof.CacheFailed, proof.KeysFailed,
		proof.Erred, proof.Odd, probe.TimedOut, probe.Unresolved, probe.Unreachable, probe.Broken,
	} {
		if got := report(s, ask.Answer{Verdict: verdict, Message: "found"}); got.Reason() == "" {
			t.Errorf("%q has none", verdict)
		}
	}
}
