package pass

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/operators/c5c3/internal/identity"
)

// RetryAfter is how long an object that K-ORC gave up at the given time stays as
// it is: half the time for which the condition has been False, so that the
// attempts get rarer.
func RetryAfter(s *Pass, gaveUp, failingSince time.Time) time.Duration {
	now := s.Now()
	patience := min(max(now.Sub(failingSince)/2, s.RetryPeriod), identity.MaxRetryPeriod)
	return max(gaveUp.Add(patience).Sub(now), 0)
}

// IsRefused reports whether a credential that was created at the given time has been
// refused by Keystone for a while, and the condition has said so. Without the latter,
// nobody would learn why the credential is replaced after a late pass.
func IsRefused(s *Pass, conditionType string, created time.Time, id, secret string) bool {
	announced, rejected := s.Proofs.Rejected(s.NamespacedName, id, secret)
	return rejected && announced >= s.RetryPeriod && RetryAfter(s, created, FailingSince(s, conditionType)) == 0
}

// FailingSince is when a condition became False, now unless it is.
func FailingSince(s *Pass, conditionType string) time.Time {
	condition := meta.FindStatusCondition(s.CP.Status.Conditions, conditionType)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return s.Now()
	}
	return condition.LastTransitionTime.Time
}
