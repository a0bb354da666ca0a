//go:build integration

package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// startedJob waits for the only Job of the namespace.
func startedJob(t *testing.T, namespace string) *batchv1.Job {
	t.Helper()
	var list batchv1.JobList
	expect.Eventually(t, "a Job", func(ctx context.Context) error {
		if err := admin.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return errors.New("there is none, or more than one")
		}
		return nil
	})
	return &list.Items[0]
}

// finish does what the Job controller does when a Job ends.
func finish(t *testing.T, run *batchv1.Job, how batchv1.JobConditionType) {
	t.Helper()
	change(t, run, func(run *batchv1.Job) {
		now := metav1.Now()
		run.Status.StartTime = &now
		conditions := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
		if how == batchv1.JobFailed {
			conditions = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
		} else {
			run.Status.CompletionTime = &now
		}
		for _, conditionType := range conditions {
			run.Status.Conditions = append(run.Status.Conditions, batchv1.JobCondition{
				Type: conditionType, Status: corev1.ConditionTrue, LastTransitionTime: now,
			})
		}
	})
}

// announce writes an event about the Keystone.
func announce(t *testing.T, k *keystonev1alpha1.Keystone, reason, message string) {
	t.Helper()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, GenerateName: "event-"}, Type: corev1.EventTypeNormal,
		Reason: reason, Message: message, LastTimestamp: metav1.Now(),
		InvolvedObject: corev1.ObjectReference{Kind: "Keystone", Namespace: k.Namespace, Name: k.Name, UID: k.UID},
	}
	if err := admin.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
}

func TestANamespaceUserRotatesTokenKeysAndSeesThemPromoted(t *testing.T) {
	u := as(t, "operator")
	k := readyKeystone(t, u.namespace)
	cronJob := fernetCronJob(t, k)
	announce(t, k, keystonev1alpha1.EventFernetKeysRotated, "an earlier rotation")
	end := u.start(t, "rotate", "fernet")
	run := startedJob(t, u.namespace)
	if !metav1.IsControlledBy(run, cronJob) || run.Labels["app.kubernetes.io/component"] != keystonev1alpha1.FernetRotation {
		t.Errorf("the operator does not know the Job with the owners %v and the labels %v", run.OwnerReferences, run.Labels)
	}
	finish(t, run, batchv1.JobComplete)
	announce(t, k, keystonev1alpha1.EventFernetKeysRotated, "Secret keystone-fernet-keys holds rotated keys")
	end().expect(t, CodeOK, "started Job "+run.Name, "Secret keystone-fernet-keys holds rotated keys", "earlier tokens stay valid")
}

func TestAFailedRotationJobExitsWithNotReady(t *testing.T) {
	u := as(t, "operator")
	fernetCronJob(t, readyKeystone(t, u.namespace))
	end := u.start(t, "rotate", "fernet", "keystone/keystone")
	finish(t, startedJob(t, u.namespace), batchv1.JobFailed)
	end().expect(t, CodeNotReady, "failed", "the values in use stay")
}

func TestARotationThatIsNotSetUpIsExplained(t *testing.T) {
	u := as(t, "operator")
	readyKeystone(t, u.namespace)
	u.run(t, "rotate", "password").expect(t, CodeNotReady,
		"there is no CronJob keystone-admin-password-rotate", "spec.bootstrap.passwordRotation.enabled")
}

func TestARotationNamesTheRightThatIsMissing(t *testing.T) {
	u := as(t, "keystones-only")
	fernetCronJob(t, readyKeystone(t, u.namespace))
	u.run(t, "rotate", "fernet").expect(t, CodeMissingRight, "you may not create jobs.batch in namespace "+u.namespace)
}

func TestReplacingAnApplicationCredentialDeletesItsRequest(t *testing.T) {
	u := as(t, "operator")
	cp := testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	cp.Status.AdminApplicationCredential = &c5c3v1alpha1.AdminApplicationCredentialStatus{ID: "old"}
	cp = store(t, u.namespace, cp)
	end := u.start(t, "rotate", "application-credential")
	var requests c5c3v1alpha1.CredentialRotationList
	expect.Eventually(t, "a request", func(ctx context.Context) error {
		if err := admin.List(ctx, &requests, client.InNamespace(u.namespace)); err != nil {
			return err
		}
		if len(requests.Items) != 1 {
			return errors.New("there is none")
		}
		return nil
	})
	request := &requests.Items[0]
	if !request.Spec.ReMint {
		t.Error("it does not ask for another credential")
	}
	change(t, request, func(r *c5c3v1alpha1.CredentialRotation) { r.Status.LastTriggeredGeneration = r.Generation })
	change(t, cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Status.AdminApplicationCredential.ID = "new" })
	end().expect(t, CodeOK, "new replaces old")
	expect.Gone(t, admin, request)
}

func TestANamespaceUserUpgradesAndFollowsThePhases(t *testing.T) {
	u := as(t, "operator")
	k := readyKeystone(t, u.namespace)
	end := u.start(t, "upgrade", "--to", "2026.1")
	expect.Object(t, admin, k, func() error {
		if k.Spec.Image.Tag != "2026.1" {
			return errors.New("the release is not set")
		}
		return nil
	})
	change(t, k, func(k *keystonev1alpha1.Keystone) {
		k.Status.ObservedGeneration, k.Status.TargetRelease = k.Generation, "2026.1"
		k.Status.UpgradePhase = commonv1.UpgradePhaseMigrating
	})
	change(t, k, func(k *keystonev1alpha1.Keystone) {
		k.Status.InstalledRelease, k.Status.TargetRelease, k.Status.UpgradePhase = "2026.1", "", ""
	})
	end().expect(t, CodeOK, "2026.1 follows 2025.2", "the API server accepts the change", "keystone/keystone runs release 2026.1")
}

func TestPreflightChangesNothing(t *testing.T) {
	u := as(t, "operator")
	k := readyKeystone(t, u.namespace)
	u.run(t, "upgrade", "--to", "2026.1", "--preflight").expect(t, CodeOK, "2026.1 follows 2025.2")
	u.run(t, "upgrade", "--to", "2026.2").expect(t, CodeNotReady, "the next release is 2026.1")
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil || k.Spec.Image.Tag != "2025.2" {
		t.Errorf("got tag %s, %v", k.Spec.Image.Tag, err)
	}
}

func TestPreflightReportsAnAdmissionRefusal(t *testing.T) {
	u := as(t, "operator")
	readyKeystone(t, u.namespace)
	u.run(t, "upgrade", "--to", "2026.1-"+longSuffix()).expect(t, CodeNotReady, "Failed", "Admission", "spec.image")
}

// longSuffix makes a tag longer than a registry allows.
func longSuffix() string {
	suffix := make([]byte, 200)
	for i := range suffix {
		suffix[i] = 'x'
	}
	return string(suffix)
}

func TestAnUpgradeNamesTheRightThatIsMissing(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	u.run(t, "upgrade", "--to", "2026.1").expect(t, CodeMissingRight,
		"you may not patch keystones.keystone.openstack.c5c3.io in namespace "+u.namespace)
}

func TestAnUpgradeIsTakenBackUntilItContracts(t *testing.T) {
	u := as(t, "operator")
	k := testutil.Installed(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	k.Spec.Image.Tag, k.Status.TargetRelease, k.Status.UpgradePhase = "2026.1", "2026.1", commonv1.UpgradePhaseContracting
	k = store(t, u.namespace, k)
	u.run(t, "upgrade", "--abort").expect(t, CodeNotReady, "can no longer be rolled back")
	change(t, k, func(k *keystonev1alpha1.Keystone) { k.Status.UpgradePhase = commonv1.UpgradePhaseMigrating })
	u.run(t, "upgrade", "--abort", "--no-wait").expect(t, CodeOK, "set release 2025.2 on keystone/keystone")
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil || k.Spec.Image.Tag != "2025.2" {
		t.Errorf("got tag %s, %v", k.Spec.Image.Tag, err)
	}
}

func TestAFailedUpgradeSaysHowToResumeAndAbort(t *testing.T) {
	u := as(t, "operator")
	k := testutil.KeystoneIn(testutil.Upgrading())
	k.Status.InstalledRelease = "2025.2"
	store(t, u.namespace, k)
	u.run(t, "upgrade", "--to", "2026.1").expect(t, CodeNotReady, "error: MigrateFailed",
		`see "kubectl forge status keystone/keystone -n `+u.namespace+`"`, "the same command follows it again",
		`"kubectl forge upgrade keystone/keystone -n `+u.namespace+` --abort" rolls it back`)
}

func TestAnUpgradeContinuesAfterATimeout(t *testing.T) {
	u := as(t, "operator")
	readyKeystone(t, u.namespace)
	u.run(t, "upgrade", "--to", "2026.1", "--timeout", "1ns").expect(t, CodeTimeout, "timed out after 1ns",
		"the same command follows it again", `--abort" rolls it back`)
	r := u.run(t, "upgrade", "--abort", "--timeout", "1ns")
	r.expect(t, CodeTimeout, "the same command follows it again")
	if strings.Contains(r.err, "rolls it back") {
		t.Errorf("a rollback is told to roll back:\n%s", r)
	}
}

func TestTheReleaseOfAKeystoneIsSetInItsControlPlane(t *testing.T) {
	u := as(t, "operator")
	cp := store(t, u.namespace, testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)))
	k := testutil.Installed(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	k.Name = cp.KeystoneName()
	k.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cp, c5c3v1alpha1.GroupVersion.WithKind("ControlPlane"))}
	k = store(t, u.namespace, k)
	u.run(t, "upgrade", "keystone/"+k.Name, "--to", "2026.1", "--no-wait").
		expect(t, CodeOK, "set release 2026.1 on controlplane/controlplane")
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); err != nil || cp.Spec.OpenStackRelease != "2026.1" {
		t.Errorf("got release %s, %v", cp.Spec.OpenStackRelease, err)
	}
}
