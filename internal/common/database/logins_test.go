package database

import (
	"fmt"
	"testing"
)

// rollOut simulates the operator and its pods: passes that follow the plan, a
// verification that succeeds, and a rollout between passes. It fails if a pod has a login
// that the database would reject.
type rollOut struct {
	t        *testing.T
	current  login
	pods     []login
	known    map[string][]byte
	database map[string]string
	changes  int
}

func (r *rollOut) settled() bool {
	for _, pod := range r.pods {
		if !pod.is(r.current) {
			return false
		}
	}
	return true
}

// pass is one reconciliation. The database follows the plan immediately, which is the
// worst case.
func (r *rollOut) pass(wanted login) {
	plan := planLogins(wanted, r.current, r.known, r.settled())
	r.known = nil
	if plan.changing(wanted) {
		r.known = plan.known
	}
	for _, user := range []string{wanted.user, wanted.user + standbySuffix} {
		switch {
		case plan.pinned(user, wanted.password):
			r.database[user] = string(plan.known[user])
		case user == wanted.user || plan.uses(user):
			r.database[user] = string(wanted.password)
		default:
			delete(r.database, user)
		}
	}
	r.check()
	if r.database[plan.next.user] != string(plan.next.password) {
		r.t.Fatalf("the plan leads to user %s, whom the database would refuse", plan.next.user)
	}
	if !plan.next.is(r.current) {
		r.current = plan.next
		r.changes++
	}
}

// replaceOne replaces one pod, as the Deployment controller does between two passes.
func (r *rollOut) replaceOne() {
	for i, pod := range r.pods {
		if !pod.is(r.current) {
			r.pods[i] = r.current
			return
		}
	}
}

func (r *rollOut) check() {
	r.t.Helper()
	for i, pod := range r.pods {
		if r.database[pod.user] != string(pod.password) {
			r.t.Fatalf("pod %d cannot log in as %s", i, pod.user)
		}
	}
}

func newRollOut(t *testing.T) *rollOut {
	old := login{"keystone", []byte("old")}
	return &rollOut{t: t, current: old, pods: []login{old, old, old}, database: map[string]string{"keystone": "old"}}
}

func TestNoPodIsEverRefusedWhileThePasswordChanges(t *testing.T) {
	wanted := login{"keystone", []byte("new")}
	r := newRollOut(t)
	for range 20 {
		r.pass(wanted)
		r.replaceOne()
		r.check()
	}
	if !r.current.is(wanted) || !r.settled() || r.known != nil || len(r.database) != 1 {
		t.Errorf("ended with %s, settled %t, %d known logins and users %v", r.current.user, r.settled(), len(r.known), r.database)
	}
	if r.changes != 2 {
		t.Errorf("the connection changed %d times, want twice", r.changes)
	}
}

func TestAPasswordThatChangesAgainMeanwhileRefusesNobodyEither(t *testing.T) {
	for second := range 15 {
		for third := second; third < 15; third++ {
			t.Run(fmt.Sprintf("at %d and %d", second, third), func(t *testing.T) {
				wanted := login{"keystone", []byte("new")}
				r := newRollOut(t)
				for step := range 60 {
					if step == second {
						wanted.password = []byte("newer")
					}
					if step == third {
						wanted.password = []byte("old")
					}
					r.pass(wanted)
					r.replaceOne()
					r.check()
				}
				if !r.current.is(wanted) || r.known != nil || len(r.database) != 1 {
					t.Errorf("ended with user %s and users %v", r.current.user, r.database)
				}
			})
		}
	}
}

func TestAnUnchangedPasswordNeedsNoSecondUser(t *testing.T) {
	wanted := login{"keystone", []byte("old")}
	for _, settled := range []bool{true, false} {
		plan := planLogins(wanted, wanted, nil, settled)
		if !plan.next.is(wanted) || plan.changing(wanted) || plan.uses("keystone"+standbySuffix) {
			t.Errorf("settled %t: the plan is %v", settled, plan)
		}
	}
}
