package operator

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// countingLock counts its updates.
type countingLock struct {
	resourcelock.Interface

	updates int
	err     error
}

func (l *countingLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	l.updates++
	return l.err
}

func TestALeaseIsRenewedOnlyAsOftenAsItHasToBe(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	lease := &countingLock{}
	lock := &sparingLock{Interface: lease, now: func() time.Time { return now }}
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "one", AcquireTime: metav1.NewTime(now)}
	for range 10 * renewInterval / retryPeriod {
		record.RenewTime = metav1.NewTime(now)
		if err := lock.Update(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		now = now.Add(retryPeriod)
	}
	if lease.updates != 10 {
		t.Errorf("%d renewals within %s, want 10", lease.updates, 10*renewInterval)
	}
}

func TestALeaseThatChangesHandsIsWrittenAtOnce(t *testing.T) {
	lease := &countingLock{}
	lock := &sparingLock{Interface: lease, now: func() time.Time { return time.Unix(1_000_000, 0) }}
	for i, holder := range []string{"one", "", "two"} {
		if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: holder}); err != nil {
			t.Fatal(err)
		}
		if lease.updates != i+1 {
			t.Errorf("%d updates after %d holders", lease.updates, i+1)
		}
	}
}

func TestARenewalThatFailsIsRepeated(t *testing.T) {
	lease := &countingLock{err: errors.New("no answer")}
	lock := &sparingLock{Interface: lease, now: func() time.Time { return time.Unix(1_000_000, 0) }}
	for i := range 3 {
		if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one"}); err == nil || lease.updates != i+1 {
			t.Errorf("attempt %d: %v after %d updates", i+1, err, lease.updates)
		}
	}
}

func TestALeaderThatCannotRenewStopsBeforeItsLeaseExpires(t *testing.T) {
	// The last renewal was left out, the next one comes a period later and fails until the
	// deadline, and the request that releases the Lease is not answered either.
	if leads := renewInterval + retryPeriod + renewDeadline + requestTimeout; leads >= leaseDuration {
		t.Errorf("a leader may lead for %s after it has renewed a Lease of %s", leads, leaseDuration)
	}
}

func TestLeaderElectionDoesNotChangeTheTimeoutOfOtherClients(t *testing.T) {
	config := &rest.Config{Host: "http://localhost:1", UserAgent: "operator"}
	options := ctrl.Options{LeaderElection: true, LeaderElectionID: "operator", LeaderElectionNamespace: "openstack"}
	lock, err := newLock(config, options, nil)
	if lock == nil || err != nil {
		t.Fatal(lock, err)
	}
	if config.Timeout != 0 || config.UserAgent != "operator" {
		t.Errorf("the other clients have the timeout %s and the user agent %q", config.Timeout, config.UserAgent)
	}
}
