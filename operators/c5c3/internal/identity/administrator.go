package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"

	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// ErrPassword is the error when Keystone refuses the administrator's password, or has
// refused it not long ago.
var ErrPassword = errors.New("Keystone refuses the administrator's password") //nolint:staticcheck // It begins with a name.

// A refused password is left alone for firstPause, and twice as long after each further
// try, as the operator of Keystone does.
const (
	firstPause = time.Hour
	lastPause  = 16 * time.Hour
)

// Administrator asks Keystone over HTTP for what takes the administrator's password.
// Keystone may lock out an administrator whose password is tried too often with a wrong
// value, so that one that it refuses is not sent again for a long time, whatever it is
// wanted for.
type Administrator struct {
	now func() time.Time

	mu sync.Mutex
	// refusals are by the URL of Keystone.
	refusals map[string]refusal
}

type refusal struct {
	// password is the hash of the one that was refused.
	password string
	pause    time.Duration
	until    time.Time
}

// NewAdministrator returns one that has not sent any password yet; now is nil for
// time.Now.
func NewAdministrator(now func() time.Time) *Administrator {
	if now == nil {
		now = time.Now
	}
	return &Administrator{now: now, refusals: map[string]refusal{}}
}

// logIn logs in at Keystone with the administrator's password. The error is ErrPassword
// when Keystone refuses that.
func (a *Administrator) logIn(ctx context.Context, authURL, password string) (*gophercloud.ServiceClient, *tokens.User, error) {
	if a.isRefused(authURL, password) {
		return nil, nil, ErrPassword
	}
	identity := identityClient(authURL)
	created := tokens.Create(ctx, identity, &tokens.AuthOptions{
		Username: clouds.AdminUser, Password: password, DomainName: clouds.DefaultDomain,
		Scope: tokens.Scope{ProjectName: clouds.AdminProject, DomainName: clouds.DefaultDomain},
	})
	token, err := created.ExtractTokenID()
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusUnauthorized):
		a.refuse(authURL, password)
		return nil, nil, ErrPassword
	case err != nil:
		return nil, nil, fmt.Errorf("logging in at Keystone with the administrator's password: %w", plain(err))
	}
	a.accept(authURL)
	user, err := created.ExtractUser()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the administrator's id: %w", err)
	}
	identity.SetToken(token)
	return identity, user, nil
}

func (a *Administrator) isRefused(authURL, password string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.refusals[authURL]
	return last.password == controlplane.Hash(password) && a.now().Before(last.until)
}

func (a *Administrator) refuse(authURL, password string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hash, pause := controlplane.Hash(password), firstPause
	if last := a.refusals[authURL]; last.password == hash {
		pause = min(2*last.pause, lastPause)
	}
	a.refusals[authURL] = refusal{password: hash, pause: pause, until: a.now().Add(pause)}
}

func (a *Administrator) accept(authURL string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.refusals, authURL)
}

// Revoke makes sure that Keystone at a URL has an application credential of the
// administrator no longer. It is no error when there is none. The error never
// holds the password.
type Revoke func(ctx context.Context, authURL, password, id string) error

// Revoke is a [Revoke] of an application credential.
func (a *Administrator) Revoke(ctx context.Context, authURL, password, id string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, admin, err := a.logIn(ctx, authURL, password)
	if err != nil {
		return err
	}
	err = applicationcredentials.Delete(ctx, identity, admin.ID, id).ExtractErr()
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return fmt.Errorf("revoking application credential %s: %w", id, plain(err))
	}
	return nil
}

// DeleteUser is a [Revoke] of a user of a service, whose assignments and tokens go
// with it.
func (a *Administrator) DeleteUser(ctx context.Context, authURL, password, id string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, _, err := a.logIn(ctx, authURL, password)
	if err != nil {
		return err
	}
	err = users.Delete(ctx, identity, id).ExtractErr()
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return fmt.Errorf("deleting the user %s: %w", id, plain(err))
	}
	return nil
}
