package rotate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func event(reason, message string) corev1.Event {
	return corev1.Event{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Reason: reason, Message: message}
}

func facts(k Kind, conditionReason string, status metav1.ConditionStatus, state ...batchv1.JobConditionType) Facts {
	condition := testutil.True(k.condition, conditionReason)
	condition.Status = status
	keystone := testutil.Installed(condition, testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	run := testutil.Job(keystone, "keystone-fernet-rotate-manual-x", state...)
	return Facts{Keystone: keystone, Job: &run}
}

func TestAKeyRotationIsDoneAfterItsPromotion(t *testing.T) {
	for _, k := range []Kind{Fernet, Credential} {
		f := facts(k, "Available", metav1.ConditionTrue, batchv1.JobComplete)
		if view := k.View(f); view.Done || view.Failed != nil {
			t.Errorf("%s: a Job that has succeeded is not the end: %+v", k.Name, view)
		}
		f.News = []corev1.Event{event(k.promoted, "rotated")}
		if view := k.View(f); !view.Done {
			t.Errorf("%s: got %+v after the promotion", k.Name, view)
		}
	}
}

func TestAPasswordRotationIsDoneAfterDeliveryAndBootstrap(t *testing.T) {
	f := facts(Password, keystonev1alpha1.ReasonAdminPasswordRotated, metav1.ConditionTrue, batchv1.JobComplete)
	f.News = []corev1.Event{event(keystonev1alpha1.EventAdminPasswordRotated, "being delivered")}
	if view := Password.View(f); view.Done {
		t.Errorf("got %+v while the password is on its way", view)
	}
	f.Keystone.Status.Conditions[0].Reason = keystonev1alpha1.ReasonPasswordRotationConfigured
	if view := Password.View(f); !view.Done {
		t.Errorf("got %+v after the password has arrived", view)
	}
	f.Keystone.Status.Conditions[1].Status = metav1.ConditionFalse
	if view := Password.View(f); view.Done {
		t.Errorf("got %+v before bootstrap has set it", view)
	}
}

func TestAJobThatFailsEndsTheRotationWithWhatItsPodSaid(t *testing.T) {
	f := facts(Fernet, "Available", metav1.ConditionTrue, batchv1.JobFailed)
	f.Pods = []corev1.Pod{testutil.JobPod(f.Job, "pod", testutil.Ended("fernet-rotate", "no space left"))}
	view := Fernet.View(f)
	if view.Failed == nil || !strings.Contains(view.Failed.Error(), "no space left") {
		t.Errorf("got %v", view.Failed)
	}
}

func TestAHeldRotationIsDoneAndSaysUntilWhen(t *testing.T) {
	f := facts(Fernet, "Available", metav1.ConditionTrue, batchv1.JobComplete)
	f.News = []corev1.Event{event(keystonev1alpha1.EventRotationHeld, "The rotation of Secret keystone-credential-keys is held")}
	if view := Fernet.View(f); view.Done {
		t.Error("the event is about other keys")
	}
	f.News = []corev1.Event{event(keystonev1alpha1.EventRotationHeld, "The rotation of Secret keystone-fernet-keys is held until noon")}
	view := Fernet.View(f)
	if !view.Done || view.Rows[1].State != "Held" || !strings.Contains(view.Rows[1].Text, "until noon") {
		t.Errorf("got %+v", view)
	}
}

func TestARefusedRotationFails(t *testing.T) {
	for _, k := range []Kind{Fernet, Credential, Password} {
		for _, reason := range k.refusals {
			f := facts(k, "Available", metav1.ConditionTrue, batchv1.JobComplete)
			f.News = []corev1.Event{event(reason, fmt.Sprintf("staging Secret %s-staging: too short", names[k.Name]))}
			if view := k.View(f); view.Failed == nil || !strings.Contains(view.Failed.Error(), "too short") {
				t.Errorf("%s: got %v after %s", k.Name, view.Failed, reason)
			}
		}
	}
}

// names are the Secrets that events are about.
var names = map[string]string{
	Fernet.Name: "keystone-fernet-keys", Credential.Name: "keystone-credential-keys", Password.Name: "keystone-admin-password",
}

func TestARotationDoesNotEndWithAnEventAboutAnother(t *testing.T) {
	for _, k := range []Kind{Fernet, Credential, Password} {
		for other, name := range names {
			if other == k.Name {
				continue
			}
			for _, reason := range append(slices.Clone(Fernet.refusals), Fernet.held) {
				f := facts(k, "Available", metav1.ConditionTrue, batchv1.JobComplete)
				f.News = []corev1.Event{event(reason, "about Secret "+name)}
				if view := k.View(f); view.Done || view.Failed != nil {
					t.Errorf("%s: got %+v after %s of %s", k.Name, view, reason, other)
				}
			}
		}
	}
}

func TestASecretThatMayNotBeWrittenEndsAPasswordRotation(t *testing.T) {
	f := facts(Password, keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed, metav1.ConditionFalse, batchv1.JobComplete)
	f.Keystone.Status.Conditions[0].Message = "label the Secret"
	if view := Password.View(f); view.Failed == nil || view.Failed.Error() != "label the Secret" {
		t.Errorf("got %v", view.Failed)
	}
}

func TestWithoutEventsARotationEndsWithItsJob(t *testing.T) {
	f := facts(Fernet, "Available", metav1.ConditionTrue, batchv1.JobComplete)
	f.NoEvents = true
	view := Fernet.View(f)
	if !view.Done || !strings.Contains(view.Rows[1].Text, "you may not list events") {
		t.Errorf("got %+v", view)
	}
}

func TestOnlyEventsAfterTheBaselineAreReported(t *testing.T) {
	old, repeated, fresh := event("A", ""), event("B", ""), event("C", "")
	old.UID, old.ResourceVersion = "old", "1"
	repeated.UID, repeated.ResourceVersion = "repeated", "2"
	fresh.UID = "fresh"
	baseline := NewBaseline([]corev1.Event{old, repeated})
	repeated.ResourceVersion = "3"
	news := baseline.News([]corev1.Event{old, repeated, fresh})
	if len(news) != 2 || news[0].Reason != "B" || news[1].Reason != "C" {
		t.Errorf("got %v", news)
	}
}

func TestAManualJobHasTheOwnerAndLabelsOfItsCronJob(t *testing.T) {
	cronJob := &batchv1.CronJob{ObjectMeta: testutil.Meta("keystone-fernet-rotate", nil, "CronJob")}
	cronJob.Spec.JobTemplate.Labels = map[string]string{"app.kubernetes.io/component": "fernet-rotate"}
	run := Job(cronJob)
	owner := metav1.GetControllerOf(run)
	if owner == nil || owner.UID != cronJob.UID || owner.BlockOwnerDeletion != nil {
		t.Errorf("got the owner %+v", owner)
	}
	if run.Labels["app.kubernetes.io/component"] != "fernet-rotate" {
		t.Errorf("got the labels %v, by which the operator finds its Jobs", run.Labels)
	}
	if run.Annotations["cronjob.kubernetes.io/instantiate"] != "manual" || len(cronJob.Spec.JobTemplate.Annotations) > 0 {
		t.Error("the annotation belongs on the Job and not on the template")
	}
}

func TestACredentialRotationIsDoneOnceTheNewOneIsDelivered(t *testing.T) {
	cp := testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	cp.Status.AdminApplicationCredential = &c5c3v1alpha1.AdminApplicationCredentialStatus{ID: "old"}
	request := Request(cp)
	request.Generation = 1
	if view := CredentialView(request, cp, "old"); view.Done {
		t.Error("nothing has happened yet")
	}
	request.Status.LastTriggeredGeneration = 1
	if view := CredentialView(request, cp, "old"); view.Done {
		t.Error("the credential is still the old one")
	}
	cp.Status.AdminApplicationCredential.ID = "new"
	cp.Status.Conditions[0].Status = metav1.ConditionFalse
	if view := CredentialView(request, cp, "old"); view.Done {
		t.Error("the new credential has not reached its users")
	}
	cp.Status.Conditions[0].Status = metav1.ConditionTrue
	if view := CredentialView(request, cp, "old"); !view.Done {
		t.Errorf("got %+v", view)
	}
}

func TestARequestThatIsRefusedFails(t *testing.T) {
	cp := testutil.ControlPlane()
	request := Request(cp)
	request.Generation = 1
	request.Status.Conditions = []metav1.Condition{
		testutil.False(vocabulary.ConditionReady, c5c3v1alpha1.ReasonAmbiguousControlPlane, "there are two"),
	}
	if view := CredentialView(request, cp, "old"); view.Failed == nil || view.Failed.Error() != "there are two" {
		t.Errorf("got %v", view.Failed)
	}
	if CheckControlPlane(cp) == nil {
		t.Error("there is no credential to replace")
	}
}
