//go:build integration

package controller_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// scheduledFeature is a CronJob and the condition that reports its failures.
type scheduledFeature struct{ cronJob, condition, reason, well, does string }

var scheduledFeatures = []scheduledFeature{
	{
		"keystone-fernet-rotate", "FernetKeysReady", "RotationFailed", "FernetKeysAvailable", "rotating the token keys",
	},
	{
		"keystone-credential-rotate", "CredentialKeysReady", "RotationFailed", "CredentialKeysAvailable", "rotating the credential keys",
	},
	{
		"keystone-admin-password-rotate", "PasswordRotationReady", "RotationFailed", "PasswordRotationConfigured",
		"generating a new password for the administrator",
	},
	{"keystone-trust-flush", "TrustFlushReady", "TrustFlushFailed", "TrustFlushReady", "deleting expired trusts"},
}

// withSchedules is a converged Keystone with all its CronJobs.
func withSchedules(t *testing.T) *world {
	t.Helper()
	c, k, operator := converged(t, mode{modes[0].name, writableSecrets, modes[0].keystone})
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	})
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "PasswordRotationConfigured")
	return &world{T: t, client: c, namespace: k.Namespace, keystone: k, operator: operator}
}

// start creates a Job of the CronJob, as its controller and kubectl do.
func (w *world) start(cronJob, name string, o standin.Outcome) *batchv1.Job {
	w.Helper()
	from := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: cronJob}}
	expect.Exists(w.T, w.client, from)
	jobs.Set(w.namespace, name, o)
	run := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name,
			Labels: from.Spec.JobTemplate.Labels, Annotations: from.Spec.JobTemplate.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(from, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *from.Spec.JobTemplate.Spec.DeepCopy(),
	}
	objects.Create(w.T, w.client, run)
	return run
}

// remembers returns nil for a Job that records the last output of its pod.
func remembers(run *batchv1.Job, words string) error {
	if got := run.Annotations["forge.c5c3.io/last-words"]; !strings.Contains(got, words) {
		return fmt.Errorf("it keeps %q", got)
	}
	return nil
}

func TestAFailedScheduledJobSetsItsConditionUntilOneSucceeds(t *testing.T) {
	t.Parallel()
	const cause = "(1045, \"Access denied for user 'keystone'\")"
	w := withSchedules(t)
	failures := map[string]int32{}
	for _, f := range scheduledFeatures {
		first := w.start(f.cronJob, f.cronJob+"-1", standin.Retry(cause))
		expect.Object(t, w.client, first, func() error { return remembers(first, cause) })
		expect.Condition(t, w.client, w.keystone, f.condition, metav1.ConditionTrue, f.well)
		jobs.Set(w.namespace, first.Name, standin.Fail(cause))
		expect.Condition(t, w.client, w.keystone, f.condition, metav1.ConditionFalse, f.reason,
			f.does, first.Name, cause, "check the user name and password in Secret keystone-db", "--from=cronjob/"+f.cronJob)
		failures[f.reason]++
		expectEvents(t, w.client, w.keystone, "Warning "+f.reason, failures[f.reason])
		settle(t, w.client, w.keystone, w.operator)

		w.start(f.cronJob, f.cronJob+"-2", standin.Succeed())
		expect.Condition(t, w.client, w.keystone, f.condition, metav1.ConditionTrue, f.well)
		ready(t, w.client, w.keystone)
		settle(t, w.client, w.keystone, w.operator)
	}
}

func TestAScheduledJobWhosePodIsRefusedSaysSoBeforeItFails(t *testing.T) {
	t.Parallel()
	w := withSchedules(t)
	for _, f := range scheduledFeatures {
		run := w.start(f.cronJob, f.cronJob+"-1", standin.Refuse(quota))
		expect.Condition(t, w.client, w.keystone, f.condition, metav1.ConditionFalse, f.reason,
			f.does, run.Name, "no pod can be created: "+quota, "raise the ResourceQuota")
		jobs.Set(w.namespace, run.Name, standin.Succeed())
		expect.Condition(t, w.client, w.keystone, f.condition, metav1.ConditionTrue, f.well)
		ready(t, w.client, w.keystone)
	}
}

// A deleted Job is no longer reported.
func TestADeletedJobOfAScheduleNoLongerCounts(t *testing.T) {
	t.Parallel()
	w := withSchedules(t)
	run := w.start("keystone-trust-flush", "keystone-trust-flush-1", standin.Fail("no answer"))
	expect.Condition(t, w.client, w.keystone, "TrustFlushReady", metav1.ConditionFalse, "TrustFlushFailed")
	objects.Delete(t, w.client, run, client.PropagationPolicy(metav1.DeletePropagationBackground))
	ready(t, w.client, w.keystone)
}
