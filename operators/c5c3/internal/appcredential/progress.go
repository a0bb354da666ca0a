package appcredential

import (
	"context"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// replacedSince returns when the replacement began. The condition may have been False
// before, for another reason.
func (m *manager) replacedSince() time.Time {
	since := pass.FailingSince(m.Pass, c5c3v1alpha1.ConditionKORCReady)
	began, err := time.Parse(time.RFC3339, m.credential.Annotations[c5c3v1alpha1.AnnotationReplacedSince])
	if err == nil && began.After(since) && began.Before(m.Now()) {
		return began
	}
	return since
}

// isInUse reports whether the users have the credential, or are about to get it.
func (m *manager) isInUse(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) (bool, error) {
	if credential.Status.ID == nil {
		return false, nil
	}
	delivered, err := m.deliveredClouds(ctx)
	if err != nil {
		return false, err
	}
	for _, text := range [][]byte{m.credential.Data[clouds.Key], delivered} {
		if id, _ := clouds.CredentialIn(text); id == *credential.Status.ID {
			return true, nil
		}
	}
	return false, nil
}

// reMinting is the error during a step of a replacement that began at the given time.
func (m *manager) reMinting(message string, since time.Time) *reconcile.Stop {
	if passed := m.Now().Sub(since); passed >= m.StallTimeout {
		return reconcile.WaitError(c5c3v1alpha1.ReasonReMintStalled, fmt.Sprintf(
			"%s, for more than %s; repair K-ORC or its connection to Keystone; the users keep the old credential",
			message, m.StallTimeout)).After(m.soon())
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonReMinting, message).After(m.soon())
}

// soon returns the requeue delay for progress that no watch reports.
func (m *manager) soon() time.Duration { return min(m.StallTimeout/2, time.Minute) }
