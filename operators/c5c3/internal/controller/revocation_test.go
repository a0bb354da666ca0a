package controller

import (
	"errors"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

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
		s := &scope{toolbox: &toolbox{clock: func() time.Time { return noon }, spreadTime: defaultSpreadTime}, cp: &c5c3v1alpha1.ControlPlane{}}
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

func TestARevocationThatFailsIsTriedLessAndLessOften(t *testing.T) {
	var a attempts
	calls, answer := 0, errors.New("away")
	try := func(after time.Duration) error {
		return a.try("uid", noon.Add(after), 30*time.Second, func() error { calls++; return answer })
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
		if err := try(step.after); calls != step.calls || err == nil {
			t.Errorf("step %d: %d calls and %v", i, calls, err)
		}
	}
	if !a.failed("uid") || a.failed("another") {
		t.Error("it is not remembered what failed")
	}
	answer = nil
	if err := try(2 * time.Hour); err != nil || a.failed("uid") {
		t.Errorf("it worked and yet: %v", err)
	}
	if err := try(2 * time.Hour); err != nil || calls != 7 {
		t.Errorf("it is remembered: %v after %d calls", err, calls)
	}
}

func TestARevocationIsOverdueOnlyOnceItHasFailed(t *testing.T) {
	s := &scope{toolbox: &toolbox{clock: func() time.Time { return noon }, spreadTime: defaultSpreadTime}, cp: &c5c3v1alpha1.ControlPlane{}}
	old := &orcv1alpha1.ApplicationCredential{}
	old.UID = "uid"
	old.Annotations = map[string]string{c5c3v1alpha1.AnnotationSupersededAt: noon.Add(-time.Hour).Format(time.RFC3339)}
	if _, overdue := s.overdueSince(old); overdue {
		t.Error("it is overdue before it was tried, as after an outage of the operator")
	}
	if err := s.attempts.try(old.UID, noon, time.Second, func() error { return errors.New("away") }); err == nil {
		t.Error("the error is lost")
	}
	if since, overdue := s.overdueSince(old); !overdue || !since.Equal(noon.Add(defaultSpreadTime-time.Hour)) {
		t.Errorf("it is overdue since %s (%t)", since, overdue)
	}
	old.UID = "another"
	old.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Minute)}
	if since, overdue := s.overdueSince(old); !overdue || !since.Equal(noon.Add(-time.Minute)) {
		t.Errorf("one that is being deleted is overdue since %s (%t)", since, overdue)
	}
}
