// Package rotate builds the Jobs and requests that rotate keys, passwords and
// credentials, and describes their progress. It makes no request.
package rotate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Kind is something of a Keystone that a CronJob rotates.
type Kind struct {
	// Name is the argument on the command line.
	Name string
	// What describes it, and After says what happens next without further action.
	What, After string

	cronJob   string
	condition string
	// promoted is the reason of the event that ends the rotation.
	promoted string
	// settled is the reason of the condition when the new value has arrived
	// everywhere, "" if the event is sufficient.
	settled string
	// held is the reason of the event for a rotation that is promoted later, if there is one.
	held string
	// refusals are the reasons of events after which the operator waits for the user.
	refusals []string
	// secret returns the Secret that these events are about, if another kind has the same
	// reasons. Their messages name it, or its staging Secret.
	secret func(keystone string) string
	// missing says why there is no CronJob.
	missing string
}

// The kinds.
var (
	Fernet = ofKeys(Kind{
		Name: "fernet", What: "the keys that sign tokens", cronJob: keystonev1alpha1.FernetRotation,
		condition: keystonev1alpha1.ConditionFernetKeysReady, promoted: keystonev1alpha1.EventFernetKeysRotated,
		secret: keystonev1alpha1.FernetKeysName,
		After:  "The pods have the new keys within two minutes; earlier tokens stay valid.",
	})
	Credential = ofKeys(Kind{
		Name: "credential", What: "the keys that encrypt stored credentials", cronJob: keystonev1alpha1.CredentialRotation,
		condition: keystonev1alpha1.ConditionCredentialKeysReady, promoted: keystonev1alpha1.EventCredentialKeysRotated,
		secret: keystonev1alpha1.CredentialKeysName,
		After:  "When the pods have the new keys, within two minutes, a Job re-encrypts all credentials with the new one.",
	})
	Password = Kind{
		Name: "password", What: "the administrator's password", cronJob: keystonev1alpha1.PasswordRotation,
		condition: keystonev1alpha1.ConditionPasswordRotationReady, promoted: keystonev1alpha1.EventAdminPasswordRotated,
		settled: keystonev1alpha1.ReasonPasswordRotationConfigured,
		refusals: []string{
			keystonev1alpha1.EventAdminPasswordRotationRejected, keystonev1alpha1.EventAdminPasswordRotationAnnotationInvalid,
		},
		missing: "set spec.bootstrap.passwordRotation.enabled on the Keystone",
		After:   "The Secret, the secret store and Keystone have the new password; the previous one is refused.",
	}
)

// ofKeys adds what both kinds of keys have in common.
func ofKeys(k Kind) Kind {
	k.held, k.missing = keystonev1alpha1.EventRotationHeld, "it is created when the Keystone is installed"
	k.refusals = []string{keystonev1alpha1.EventRotationRejected, keystonev1alpha1.EventRotationAnnotationInvalid}
	return k
}

// CronJobName is the name of the CronJob of a Keystone.
func (k Kind) CronJobName(keystone string) string { return keystone + "-" + k.cronJob }

// Missing returns the error for a Keystone without the CronJob.
func (k Kind) Missing(keystone string) error {
	return fmt.Errorf("there is no CronJob %s: %s", k.CronJobName(keystone), k.missing)
}

// Job returns a Job that does what the CronJob does on its schedule, like
// "kubectl create job --from".
func Job(cronJob *batchv1.CronJob) *batchv1.Job {
	annotations := maps.Clone(cronJob.Spec.JobTemplate.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["cronjob.kubernetes.io/instantiate"] = "manual"
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cronJob.Namespace, GenerateName: cronJob.Name + "-manual-",
			Labels: maps.Clone(cronJob.Spec.JobTemplate.Labels), Annotations: annotations,
			// Not NewControllerRef: blockOwnerDeletion needs a permission on the CronJob.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob",
				Name: cronJob.Name, UID: cronJob.UID, Controller: ptr.To(true),
			}},
		},
		Spec: *cronJob.Spec.JobTemplate.Spec.DeepCopy(),
	}
}

// Facts are what the view of a rotation depends on.
type Facts struct {
	Keystone *keystonev1alpha1.Keystone
	Job      *batchv1.Job
	Pods     []corev1.Pod
	// News are the events about the Keystone since the rotation began.
	News []corev1.Event
	// NoEvents is set if the user may not read events.
	NoEvents bool
}

// View describes the progress of the rotation.
func (k Kind) View(f Facts) follow.View {
	view := follow.View{Title: "rotation of " + k.What}
	row := follow.Row{Name: "Job", State: "Run", Text: f.Job.Name}
	promotion := follow.Row{Name: "Promotion", State: "Wait", Text: "waits for the Job"}
	condition := meta.FindStatusCondition(f.Keystone.Status.Conditions, k.condition)
	ended, succeeded, _ := job.Ended(f.Job)
	trouble, _ := poddiag.Problem(f.Pods)
	switch {
	case succeeded:
		row.State = "Done"
		promotion, view.Done, view.Failed = k.promotion(f, condition)
	case ended:
		row.State = "Failed"
		trouble = cmp.Or(trouble, f.Job.Annotations[job.LastWordsAnnotation], "its pod no longer exists")
		view.Failed = fmt.Errorf("job %s failed: %s; the values in use stay", f.Job.Name, trouble)
	case trouble != "":
		row.Text += ": " + trouble
	}
	view.Rows = append([]follow.Row{row, promotion}, follow.ConditionRows(f.Keystone.Status.Conditions, k.condition)...)
	return view
}

// promotion describes what the operator does with the result of the Job.
func (k Kind) promotion(f Facts, condition *metav1.Condition) (row follow.Row, done bool, failed error) {
	row = follow.Row{Name: "Promotion", State: "Wait", Text: "the operator checks the result of the Job"}
	for i := range f.News {
		event := &f.News[i]
		switch {
		case event.Reason == k.promoted:
			row.State, row.Text, done = "Done", event.Message, k.isSettled(f.Keystone, condition)
		case k.secret != nil && !strings.Contains(event.Message, k.secret(f.Keystone.Name)):
			continue
		case event.Reason == k.held:
			row.State, row.Text, done = "Held", event.Message, true
		case slices.Contains(k.refusals, event.Reason):
			row.State, row.Text = "Failed", event.Message
			return row, false, errors.New(event.Message)
		}
	}
	switch {
	case condition != nil && condition.Reason == keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed:
		failed = errors.New(condition.Message)
	case row.State != "Wait":
	case condition != nil && strings.Contains(condition.Message, "a rotation is held"):
		row.State, row.Text, done = "Held", condition.Message, true
	case f.NoEvents:
		row.Text, done = "you may not list events, which show when the operator promotes it: see the condition "+k.condition, true
	}
	return row, done && failed == nil, failed
}

// isSettled reports whether the promoted value has arrived everywhere.
func (k Kind) isSettled(keystone *keystonev1alpha1.Keystone, condition *metav1.Condition) bool {
	if k.settled == "" {
		return true
	}
	return condition != nil && condition.Reason == k.settled && condition.Status == metav1.ConditionTrue &&
		meta.IsStatusConditionTrue(keystone.Status.Conditions, vocabulary.ConditionReady)
}

// Baseline records events by the fields that change when one is repeated.
type Baseline map[types.UID]string

// NewBaseline records the events.
func NewBaseline(events []corev1.Event) Baseline {
	b := Baseline{}
	for i := range events {
		b[events[i].UID] = events[i].ResourceVersion
	}
	return b
}

// News returns the events that are new or were repeated since.
func (b Baseline) News(events []corev1.Event) []corev1.Event {
	var news []corev1.Event
	for i := range events {
		if seen, known := b[events[i].UID]; !known || seen != events[i].ResourceVersion {
			news = append(news, events[i])
		}
	}
	return news
}

// ApplicationCredential is the argument for the administrator's application credential.
const ApplicationCredential = "application-credential"

// Request returns the CredentialRotation that requests another application
// credential.
func Request(cp *c5c3v1alpha1.ControlPlane) *c5c3v1alpha1.CredentialRotation {
	return &c5c3v1alpha1.CredentialRotation{
		ObjectMeta: metav1.ObjectMeta{Namespace: cp.Namespace, GenerateName: cp.Name + "-manual-"},
		Spec: c5c3v1alpha1.CredentialRotationSpec{
			Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential, ReMint: true,
		},
	}
}

// CredentialID is the id of the application credential in use, "" when there is
// none.
func CredentialID(cp *c5c3v1alpha1.ControlPlane) string {
	if cp.Status.AdminApplicationCredential == nil {
		return ""
	}
	return cp.Status.AdminApplicationCredential.ID
}

// CheckControlPlane returns an error when there is no credential to replace.
func CheckControlPlane(cp *c5c3v1alpha1.ControlPlane) error {
	if CredentialID(cp) == "" {
		return fmt.Errorf("ControlPlane %s has no application credential yet: see \"kubectl forge status controlplane/%s\"", cp.Name, cp.Name)
	}
	return nil
}

// CredentialView describes the progress of replacing the credential with the id.
func CredentialView(request *c5c3v1alpha1.CredentialRotation, cp *c5c3v1alpha1.ControlPlane, before string) follow.View {
	view := follow.View{Title: "replacement of the application credential"}
	asked := request.Status.LastTriggeredGeneration == request.Generation
	row := follow.Row{Name: "Request", State: "Wait", Text: request.Name}
	if asked {
		row.State = "Done"
	} else if ready := meta.FindStatusCondition(request.Status.Conditions, vocabulary.ConditionReady); ready != nil {
		row.Text += ": " + ready.Message
		if ready.Status == metav1.ConditionFalse && ready.Reason != c5c3v1alpha1.ReasonWaitingForApplicationCredential {
			view.Failed = errors.New(ready.Message)
		}
	}
	view.Rows = append(view.Rows, row)
	replaced := asked && CredentialID(cp) != "" && CredentialID(cp) != before
	credential := follow.Row{Name: "Credential", State: "Wait", Text: "the one in use is " + before}
	if replaced {
		credential.State, credential.Text = "Done", CredentialID(cp)+" replaces "+before
	}
	view.Rows = append(view.Rows, credential)
	view.Rows = append(view.Rows, follow.ConditionRows(cp.Status.Conditions,
		c5c3v1alpha1.ConditionKORCReady, c5c3v1alpha1.ConditionAdminCredentialReady, vocabulary.ConditionReady)...)
	view.Done = replaced && meta.IsStatusConditionTrue(cp.Status.Conditions, vocabulary.ConditionReady)
	return view
}
