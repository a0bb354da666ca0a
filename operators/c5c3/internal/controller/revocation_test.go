package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/operator"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// spreadTime is what the operator counts with where it is told nothing else.
var spreadTime = operator.Config{}.Propagation()

func TestAReplacedCredentialWorksOnForTwoMinutesAtLeast(t *testing.T) {
	at := func(ago time.Duration) string { return noon.Add(-ago).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		supersededAt, overlap string
		want                  time.Duration
		began                 bool
	}{
		"not yet delivered":               {"", "", 2 * time.Minute, false},
		"not yet delivered, with a grace": {"", "24h", aDay, false},
		"a time that nobody can read":     {"yesterday", "", 2 * time.Minute, false},
		"a grace that nobody can read":    {at(0), "a day", 2 * time.Minute, true},
		"just now":                        {at(0), "", 2 * time.Minute, true},
		"with a grace that is shorter":    {at(0), "30s", 2 * time.Minute, true},
		"with a grace that is longer":     {at(time.Hour), "24h", 23 * time.Hour, true},
		"a minute ago":                    {at(time.Minute), "", time.Minute, true},
		"two minutes ago":                 {at(2 * time.Minute), "", 0, true},
		"long ago":                        {at(aDay), "1h", -23 * time.Hour, true},
		"by a clock that was ahead":       {at(-aDay), "", 2 * time.Minute, false},
	} {
		s := newScope(&toolbox{clock: func() time.Time { return noon }, spreadTime: spreadTime}, &c5c3v1alpha1.ControlPlane{})
		old := &orcv1alpha1.ApplicationCredential{}
		old.Annotations = map[string]string{
			c5c3v1alpha1.AnnotationSupersededAt: c.supersededAt, c5c3v1alpha1.AnnotationCredentialOverlap: c.overlap,
		}
		due, began := s.validUntil(old)
		if wait := due.Sub(noon); wait != c.want || began != c.began {
			t.Errorf("%s: it works for another %s (begun: %t), expected %s (%t)", name, wait, began, c.want, c.began)
		}
	}
}

func TestATimeThatHasBegunIsNotBegunAnewByAPassThatHasNotSeenIt(t *testing.T) {
	old := &orcv1alpha1.ApplicationCredential{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "superseded"}}
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(old).Build()
	s := newScope(&toolbox{foreign: c, clock: func() time.Time { return noon }, spreadTime: spreadTime}, &c5c3v1alpha1.ControlPlane{})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	behind := old.DeepCopy()
	if _, err := s.revoke(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	s.clock = func() time.Time { return noon.Add(time.Minute) }
	if _, err := s.revoke(t.Context(), behind); !apierrors.IsConflict(err) {
		t.Errorf("it ended with %v, want a conflict", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	if got, want := old.Annotations[c5c3v1alpha1.AnnotationSupersededAt], noon.UTC().Format(time.RFC3339); got != want {
		t.Errorf("the time began at %s, want %s", got, want)
	}
}

func TestARevocationThatFailsIsTriedLessAndLessOften(t *testing.T) {
	tasks := &later{}
	r := newRevocations(tasks)
	calls, answer := 0, errors.New("away")
	try := func(after time.Duration) error {
		now := func() time.Time { return noon.Add(after) }
		_ = r.revoke(proven, "id", now, 30*time.Second, func(context.Context) error { calls++; return answer })
		tasks.work(t.Context())
		return r.revoke(proven, "id", now, 30*time.Second, nil)
	}
	for i, step := range []struct {
		after time.Duration
		calls int
	}{
		{0, 1},
		{29 * time.Second, 1},
		{30 * time.Second, 2},
		{89 * time.Second, 2},
		{90 * time.Second, 3},
		{time.Hour, 4},
		{time.Hour + 239*time.Second, 4},
		{time.Hour + 240*time.Second, 5},
	} {
		if err := try(step.after); calls != step.calls || !errors.Is(err, answer) {
			t.Errorf("step %d: %d calls and %v", i, calls, err)
		}
	}
	if !r.failed(proven, "id") || r.failed(proven, "another") {
		t.Error("it is not remembered what failed")
	}
	answer = nil
	if err := try(2 * time.Hour); err != nil || r.failed(proven, "id") {
		t.Errorf("it worked and yet: %v", err)
	}
	if err := try(2 * time.Hour); err != nil || calls != 7 {
		t.Errorf("it is remembered: %v after %d calls", err, calls)
	}
}

func TestAPassDoesNotWaitForARevocation(t *testing.T) {
	tasks := &later{}
	r := newRevocations(tasks)
	revoke := func() error {
		return r.revoke(proven, "id", func() time.Time { return noon }, time.Second, func(context.Context) error { return nil })
	}
	if err := revoke(); !errors.Is(err, errAsking) || r.failed(proven, "id") {
		t.Errorf("before Keystone has answered: %v", err)
	}
	tasks.work(t.Context())
	if err := revoke(); err != nil {
		t.Errorf("after Keystone has answered: %v", err)
	}
}

func TestARevocationIsOverdueOnlyOnceItHasFailed(t *testing.T) {
	s := newScope(&toolbox{clock: func() time.Time { return noon }, spreadTime: spreadTime, revocations: newRevocations(nil)}, &c5c3v1alpha1.ControlPlane{})
	old := &orcv1alpha1.ApplicationCredential{}
	old.Status.ID = new("id")
	old.Annotations = map[string]string{c5c3v1alpha1.AnnotationSupersededAt: noon.Add(-time.Hour).Format(time.RFC3339)}
	if _, overdue := s.overdueSince(old); overdue {
		t.Error("it is overdue before it was tried, as after an outage of the operator")
	}
	s.revocations.record(s.name(), "id", s.now, time.Second, errors.New("away"))
	if since, overdue := s.overdueSince(old); !overdue || !since.Equal(noon.Add(spreadTime-time.Hour)) {
		t.Errorf("it is overdue since %s (%t)", since, overdue)
	}
	old.Status.ID = new("another")
	old.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Minute)}
	if since, overdue := s.overdueSince(old); !overdue || !since.Equal(noon.Add(-time.Minute)) {
		t.Errorf("one that is being deleted is overdue since %s (%t)", since, overdue)
	}
}
