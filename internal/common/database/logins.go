package database

import (
	"bytes"
	"maps"

	"github.com/c5c3/forge/internal/common/redact"
)

// standbySuffix is the suffix of the second user of a managed database, which exists
// while a password changes.
const standbySuffix = "-standby"

// login is the user and password with which pods log in to the database.
type login struct {
	user     string
	password redact.Bytes
}

func (l login) is(other login) bool {
	return l.user == other.user && bytes.Equal(l.password, other.password)
}

// loginPlan is the progress of a password change of a managed database.
//
// The server knows one password per user, so old and new pods cannot log in as the same
// user during the change. They pass through a standby user instead: the first user keeps
// its password until no pod uses it, and the standby user is dropped once all pods are
// back on the first.
type loginPlan struct {
	// next is the login that pods are to get. It differs from the current one only if
	// every pod has the current one.
	next login
	// known holds the password of each user that a pod may log in as.
	known map[string][]byte
}

// planLogins decides the next step. wanted is the login that the spec asks for, current
// the one last given to pods, known the passwords of earlier plans. settled reports
// whether all pods have current.
func planLogins(wanted, current login, known map[string][]byte, settled bool) loginPlan {
	plan := loginPlan{next: current, known: map[string][]byte{}}
	if !settled {
		maps.Copy(plan.known, known)
	}
	plan.known[current.user] = current.password
	if !settled || current.is(wanted) {
		return plan
	}
	plan.next = wanted
	if current.user == wanted.user {
		plan.next.user += standbySuffix
	}
	plan.known[plan.next.user] = plan.next.password
	return plan
}

// uses reports whether a pod may log in as the user.
func (p loginPlan) uses(user string) bool { return p.known[user] != nil }

// pinned reports whether the user must keep a password other than the wanted one.
func (p loginPlan) pinned(user string, wanted redact.Bytes) bool {
	password := p.known[user]
	return password != nil && !bytes.Equal(password, wanted)
}

// changing reports whether the passwords must be remembered.
func (p loginPlan) changing(wanted login) bool {
	return len(p.known) > 1 || p.pinned(wanted.user, wanted.password)
}
