package logins

import (
	"fmt"
	"testing"
)

// rollOut simulates the operator and its pods: passes that follow the plan, a
// verification that succeeds, and a rollout between passes. It fails if a pod has a login
// that the database would reject.
type rollOut struct {
	t        *testing.T
	current  Login
	pods     []Login
	known    map[string][]byte
	database map[string]string
	changes  int
}

func (r *rollOut) settled() bool {
	for _, pod := range r.pods {
		if !pod.Is(r.current) {
			return false
		}
	}
	return true
}

// pass is one reconciliation. The database follows the plan immediately, which is the
// worst case.
func (r *rollOut) pass(wanted Login) {
	plan := NewPlan(wanted, r.current, r.known, r.settled())
	r.known = nil
	if plan.Changing(wanted) {
		r.known = plan.Known
	}
	for _, user := range []string{wanted.User, Standby(wanted.User)} {
		switch {
		case plan.Pinned(user, wanted.Password):
			r.database[user] = string(plan.Known[user])
		case user == wanted.User || plan.Uses(user):
			r.database[user] = string(wanted.Password)
		default:
			delete(r.database, user)
		}
	}
	r.check()
	if r.database[plan.Next.User] != string(plan.Next.Password) {
		r.t.Fatalf("the plan leads to user %s, whom the database would refuse", plan.Next.User)
	}
	if !plan.Next.Is(r.current) {
		r.current = plan.Next
		r.changes++
	}
}

// replaceOne replaces one pod, as the Deployment controller does between two passes.
func (r *rollOut) replaceOne() {
	for i, pod := range r.pods {
		if !pod.Is(r.current) {
			r.pods[i] = r.current
			return
		}
	}
}

func (r *rollOut) check() {
	r.t.Helper()
	for i, pod := range r.pods {
		if r.database[pod.User] != string(pod.Password) {
			r.t.Fatalf("pod %d cannot log in as %s", i, pod.User)
		}
	}
}

func newRollOut(t *testing.T) *rollOut {
	old := Login{"keystone", []byte("old")}
	return &rollOut{t: t, current: old, pods: []Login{old, old, old}, database: map[string]string{"keystone": "old"}}
}

func TestEveryPodCanLogInDuringAPasswordChange(t *testing.T) {
	wanted := Login{"keystone", []byte("new")}
	r := newRollOut(t)
	for range 20 {
		r.pass(wanted)
		r.replaceOne()
		r.check()
	}
	if !r.current.Is(wanted) || !r.settled() || r.known != nil || len(r.database) != 1 {
		t.Errorf("ended with %s, settled %t, %d known logins and users %v", r.current.User, r.settled(), len(r.known), r.database)
	}
	if r.changes != 2 {
		t.Errorf("the connection changed %d times, want twice", r.changes)
	}
}

func TestEveryPodCanLogInDuringOverlappingPasswordChanges(t *testing.T) {
	for second := range 15 {
		for third := second; third < 15; third++ {
			t.Run(fmt.Sprintf("at %d and %d", second, third), func(t *testing.T) {
				wanted := Login{"keystone", []byte("new")}
				r := newRollOut(t)
				for step := range 60 {
					if step == second {
						wanted.Password = []byte("newer")
					}
					if step == third {
						wanted.Password = []byte("old")
					}
					r.pass(wanted)
					r.replaceOne()
					r.check()
				}
				if !r.current.Is(wanted) || r.known != nil || len(r.database) != 1 {
					t.Errorf("ended with user %s and users %v", r.current.User, r.database)
				}
			})
		}
	}
}

func TestAnUnchangedPasswordNeedsNoSecondUser(t *testing.T) {
	wanted := Login{"keystone", []byte("old")}
	for _, settled := range []bool{true, false} {
		plan := NewPlan(wanted, wanted, nil, settled)
		if !plan.Next.Is(wanted) || plan.Changing(wanted) || plan.Uses(Standby("keystone")) {
			t.Errorf("settled %t: the plan is %v", settled, plan)
		}
	}
}
