// Package logins plans how the pods of a service switch from one password of a managed
// database to the next, so that the server never refuses a login.
package logins

import (
	"bytes"
	"maps"

	"github.com/c5c3/forge/internal/common/redact"
)

// Standby returns the name of the second user of a managed database, which exists while
// the password of the user changes.
func Standby(user string) string { return user + "-standby" }

// Login is the user and password with which pods log in to the database.
type Login struct {
	User     string
	Password redact.Bytes
}

// Is reports whether both logins are the same.
func (l Login) Is(other Login) bool {
	return l.User == other.User && bytes.Equal(l.Password, other.Password)
}

// Plan is the progress of a password change of a managed database.
//
// The server knows one password per user, so old and new pods cannot log in as the same
// user during the change. They pass through a standby user instead: the first user keeps
// its password until no pod uses it, and the standby user is dropped once all pods are
// back on the first.
type Plan struct {
	// Next is the login that pods are to get. It differs from the current one only if
	// every pod has the current one.
	Next Login
	// Known holds the password of each user that a pod may log in as.
	Known map[string][]byte
}

// NewPlan plans the next step. wanted is the login that the spec asks for, current
// the one last given to pods, known the passwords of earlier plans. settled reports
// whether all pods have current.
func NewPlan(wanted, current Login, known map[string][]byte, settled bool) Plan {
	plan := Plan{Next: current, Known: map[string][]byte{}}
	if !settled {
		maps.Copy(plan.Known, known)
	}
	plan.Known[current.User] = current.Password
	if !settled || current.Is(wanted) {
		return plan
	}
	plan.Next = wanted
	if current.User == wanted.User {
		plan.Next.User = Standby(wanted.User)
	}
	plan.Known[plan.Next.User] = plan.Next.Password
	return plan
}

// Uses reports whether a pod may log in as the user.
func (p Plan) Uses(user string) bool { return p.Known[user] != nil }

// Pinned reports whether the user must keep a password other than the wanted one.
func (p Plan) Pinned(user string, wanted redact.Bytes) bool {
	password := p.Known[user]
	return password != nil && !bytes.Equal(password, wanted)
}

// Changing reports whether the passwords must be remembered.
func (p Plan) Changing(wanted Login) bool {
	return len(p.Known) > 1 || p.Pinned(wanted.User, wanted.Password)
}
