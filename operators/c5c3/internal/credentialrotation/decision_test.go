package credentialrotation

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const aDay = 24 * time.Hour

// rotationAt returns the facts about a credential that has been in use for the given
// time, after the changes.
func rotationAt(used time.Duration, changes ...func(*rotationFacts)) rotationFacts {
	password := strings.Repeat("a", 64)
	f := rotationFacts{
		rotation: &c5c3v1alpha1.CredentialRotation{
			ObjectMeta: metav1.ObjectMeta{UID: "uid", Generation: 3},
			Spec:       c5c3v1alpha1.CredentialRotationSpec{Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential},
		},
		now: noon, day: aDay, mode: c5c3v1alpha1.RotationScheduled, exists: true, inUseSince: noon.Add(-used),
		passwordHash: password, stamped: true, password: password,
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func every(interval, before, grace int32) func(*rotationFacts) {
	return func(f *rotationFacts) {
		f.rotation.Spec.IntervalDays, f.rotation.Spec.PreRotationDays, f.rotation.Spec.GracePeriodDays = &interval, &before, &grace
	}
}

func reMint(f *rotationFacts)       { f.rotation.Spec.ReMint = true }
func bootstrap(f *rotationFacts)    { f.rotation.Spec.Bootstrap = true }
func noCredential(f *rotationFacts) { f.exists = false }
func noPassword(f *rotationFacts)   { f.password = "" }
func newPassword(f *rotationFacts)  { f.password = strings.Repeat("b", 64) }

// answering is a credential that was created for the request.
func answering(request string) func(*rotationFacts) {
	return func(f *rotationFacts) { f.request = request }
}

func in(mode c5c3v1alpha1.RotationMode) func(*rotationFacts) {
	return func(f *rotationFacts) { f.mode = mode }
}

func TestARotationIsDecidedFromRequestScheduleAndCredential(t *testing.T) {
	for name, c := range map[string]struct {
		facts         rotationFacts
		reason        string
		request       string
		overlap, next time.Duration
	}{
		"bootstrap before there is one": {facts: rotationAt(0, bootstrap, noCredential), reason: "WaitingForBootstrap"},
		"bootstrap when there is one":   {facts: rotationAt(0, bootstrap, reMint), reason: "BootstrapComplete"},
		"nothing to replace":            {facts: rotationAt(0, reMint, noCredential), reason: "WaitingForApplicationCredential"},
		"asked for":                     {facts: rotationAt(0, reMint), reason: "RotationTriggered", request: "uid/3"},
		"asked for with a grace period": {
			facts: rotationAt(0, reMint, in(c5c3v1alpha1.RotationManual), every(9, 3, 2)), reason: "RotationTriggered", request: "uid/3",
			overlap: 2 * aDay,
		},
		"asked for and written down, but not recorded": {
			facts: rotationAt(0, reMint, func(f *rotationFacts) { f.request = "uid/3" }), reason: "RotationTriggered",
		},
		"asked for and done": {
			facts:  rotationAt(0, reMint, func(f *rotationFacts) { f.rotation.Status.LastTriggeredGeneration = 3 }),
			reason: "NoRotationNeeded",
		},
		"asked for again by a change of the spec": {
			facts:  rotationAt(0, reMint, func(f *rotationFacts) { f.rotation.Status.LastTriggeredGeneration = 2 }),
			reason: "RotationTriggered", request: "uid/3",
		},
		"no password": {facts: rotationAt(0, noPassword), reason: "WaitingForAdminPassword"},
		"a new password, by hand": {
			facts:  rotationAt(0, newPassword, in(c5c3v1alpha1.RotationManual)),
			reason: "RotationTriggered", request: "uid/bbbbbbbbbbbbbbbb",
		},
		"a new password, on a schedule": {facts: rotationAt(0, newPassword), reason: "NoRotationNeeded"},
		"a new password, which drives already": {
			facts: rotationAt(0, newPassword, in(c5c3v1alpha1.RotationPasswordDriven)), reason: "NoRotationNeeded",
		},
		"a schedule in another mode": {
			facts: rotationAt(99*aDay, every(1, 0, 0), in(c5c3v1alpha1.RotationManual)), reason: "RotationModeNotScheduled",
		},
		"a schedule and a request in another mode": {
			facts:  rotationAt(99*aDay, reMint, every(1, 0, 0), in(c5c3v1alpha1.RotationPasswordDriven)),
			reason: "RotationTriggered", request: "uid/3",
		},

		"before its time":   {facts: rotationAt(2*aDay, every(30, 5, 0)), reason: "RotationScheduled", next: 23 * aDay},
		"a second too soon": {facts: rotationAt(25*aDay-time.Second, every(30, 5, 0)), reason: "RotationScheduled", next: time.Second},
		"at its time": {
			facts: rotationAt(25*aDay, every(30, 5, 2)), reason: "RotationTriggered", request: "uid/since-1793102400", overlap: 7 * aDay,
		},
		"made on schedule, before an interval has passed": {
			facts: rotationAt(25*aDay, every(30, 5, 0), answering("uid/since-1")), reason: "RotationScheduled", next: 5 * aDay,
		},
		"made on schedule, an interval ago": {
			facts:  rotationAt(30*aDay, every(30, 5, 2), answering("uid/since-1")),
			reason: "RotationTriggered", request: "uid/since-1792670400", overlap: 7 * aDay,
		},
		"made on the schedule of another CredentialRotation": {
			facts: rotationAt(20*aDay, every(30, 5, 0), answering("other/since-1")), reason: "RotationScheduled", next: 5 * aDay,
		},
		"asked for on schedule, and written down": {
			facts: rotationAt(30*aDay, every(30, 5, 2), answering("uid/since-1792670400"), func(f *rotationFacts) {
				f.rotation.Status.NextRotation = &metav1.Time{Time: noon.Add(-time.Minute)}
			}),
			reason: "RotationTriggered", overlap: 7 * aDay, next: -time.Minute,
		},
		"after many missed times": {
			facts: rotationAt(250*aDay, every(10, 0, 0)), reason: "RotationTriggered", request: "uid/since-1773662400", next: -240 * aDay,
		},
		"a clock that was ahead": {facts: rotationAt(-400*aDay, every(10, 2, 0)), reason: "RotationScheduled", next: 8 * aDay},
		"a clock that was ahead, with a time announced": {
			facts: rotationAt(-400*aDay, every(10, 2, 0), func(f *rotationFacts) {
				f.rotation.Status.NextRotation = &metav1.Time{Time: noon.Add(3 * aDay)}
			}),
			reason: "RotationScheduled", next: 3 * aDay,
		},
		"a clock that was ahead, at the time announced": {
			facts: rotationAt(-400*aDay, every(10, 2, 0), func(f *rotationFacts) {
				f.rotation.Status.NextRotation = &metav1.Time{Time: noon}
			}),
			reason: "RotationTriggered", request: "uid/since-1829822400", overlap: 2 * aDay,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := decideRotation(c.facts)
			if got.reason != c.reason || got.request != c.request || got.overlap != c.overlap {
				t.Errorf("got %s, request %q and overlap %s; expected %s, %q and %s",
					got.reason, got.request, got.overlap, c.reason, c.request, c.overlap)
			}
			if c.next != 0 && (got.next == nil || got.next.Sub(noon) != c.next) {
				t.Errorf("the next rotation is at %v, expected in %s", got.next, c.next)
			}
			if got.message == "" {
				t.Error("no message")
			}
		})
	}
}

// A year of hourly passes. Restarts are covered by construction: every decision depends
// only on the objects.
func TestAScheduleRotatesOncePerInterval(t *testing.T) {
	used, request, rotations := noon, "", 0
	var status c5c3v1alpha1.CredentialRotationStatus
	for hour := range 365 * 24 {
		now := noon.Add(time.Duration(hour) * time.Hour)
		f := rotationAt(0, every(7, 1, 1), func(f *rotationFacts) {
			f.now, f.inUseSince, f.request, f.rotation.Status = now, used, request, status
		})
		d := decideRotation(f)
		recordRotation(f.rotation, d, now)
		status = f.rotation.Status
		if d.request != "" {
			used, request = now, d.request
			rotations++
		}
	}
	if want := 365 / 7; rotations != want {
		t.Errorf("%d rotations, expected %d", rotations, want)
	}
}
