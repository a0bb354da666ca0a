package login

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// annotationRefused has the UID of the last bootstrap Job whose password Keystone has rejected.
// Another process of the operator does not try that password again. Another password comes with
// another Job.
const annotationRefused = "forge.c5c3.io/password-refused-after-job-uid"

// before returns what the previous process saw, as far as the Keystone says so.
func before(k *keystonev1alpha1.Keystone, bootstrap *batchv1.Job) ask.Verdict {
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	switch {
	case wasAccepted(k):
		return ask.Accepted
	case last == nil && k.Annotations[annotationRefused] == string(bootstrap.UID):
		// It has hibernated since.
		return ask.Rejected
	case last == nil || last.Reason != keystonev1alpha1.ReasonAdminPasswordRefused:
		return ask.Unproven
	case k.Annotations[annotationRefused] == string(bootstrap.UID), strings.Contains(last.Message, runOf(bootstrap)):
		// Earlier releases have recorded the Job in the message only.
		return ask.Rejected
	}
	return ask.Unproven
}

// runOf identifies a Job in messages.
func runOf(job *batchv1.Job) string {
	return fmt.Sprintf("Job %s of %s", job.Name, job.CreationTimestamp.UTC().Format(time.RFC3339))
}

// record records whether Keystone has rejected the password that the last bootstrap has set.
func record(ctx context.Context, s *pass.Scope, rejected bool) error {
	k, bootstrap := s.Resource, pass.BootstrapJob.Value(s.Slots)
	if bootstrap == nil || rejected == (k.Annotations[annotationRefused] == string(bootstrap.UID)) {
		return nil
	}
	marked := k.DeepCopy()
	if rejected {
		metav1.SetMetaDataAnnotation(&marked.ObjectMeta, annotationRefused, string(bootstrap.UID))
	} else {
		delete(marked.Annotations, annotationRefused)
	}
	// The lock keeps this pass from writing a status for a spec that it has not seen.
	if err := apply.Merge(ctx, s.Client, k, marked, "recording a rejected password on"); err != nil {
		return err
	}
	k.Annotations, k.ResourceVersion = marked.Annotations, marked.ResourceVersion
	return nil
}
