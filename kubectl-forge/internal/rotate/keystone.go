// Package rotate builds the Jobs and requests that rotate keys, passwords and
// credentials, and describes their progress. It makes no request.
package rotate

import (
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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
	run := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cronJob.Namespace, GenerateName: cronJob.Name + "-manual-",
			Labels: maps.Clone(cronJob.Spec.JobTemplate.Labels), Annotations: maps.Clone(cronJob.Spec.JobTemplate.Annotations),
			// Not NewControllerRef: blockOwnerDeletion needs a permission on the CronJob.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob",
				Name: cronJob.Name, UID: cronJob.UID, Controller: ptr.To(true),
			}},
		},
		Spec: *cronJob.Spec.JobTemplate.Spec.DeepCopy(),
	}
	metav1.SetMetaDataAnnotation(&run.ObjectMeta, "cronjob.kubernetes.io/instantiate", "manual")
	return run
}
