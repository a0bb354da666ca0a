package database

import (
	"bytes"
	"maps"

	"github.com/c5c3/forge/internal/common/redact"
)

// standbySuffix names the second user of a managed database. It exists while a
// password changes.
const standbySuffix = "-standby"

// login is how pods log in to the database.
type login struct {
	user     string
	password redact.Bytes
}

func (l login) is(other login) bool {
	return l.user == other.user && bytes.Equal(l.password, other.password)
}

// loginPlan is where the change of a managed database's password stands.
//
// The server knows one password for each user, so that old and new pods cannot
// log in as the same one while it changes. They pass through a second user
// instead: the password of the first stays as it is until no pod uses it, and
// the second is dropped once all pods are back on the first.
type loginPlan struct {
	// next is what pods are to log in with. It differs from what they have only
	// when every one of them has the same.
	next login
	// known holds the password of each user that a pod may log in as.
	known map[string][]byte
}

// planLogins decides what comes next. wanted is what the user of the resource
// asks for, current what the pods were given last, known what earlier plans
// left, and settled says whether all pods have current.
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

// pinned reports whether the user has to keep a password other than the wanted
// one.
func (p loginPlan) pinned(user string, wanted redact.Bytes) bool {
	password := p.known[user]
	return password != nil && !bytes.Equal(password, wanted)
}

// changing reports whether the passwords have to be remembered.
func (p loginPlan) changing(wanted login) bool {
	return len(p.known) > 1 || p.pinned(wanted.user, wanted.password)
}
