// Package identity asks Keystone itself what K-ORC cannot ask, and remembers the answers
// in the background, so that no pass waits for Keystone.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
)

// Timeout bounds one conversation with Keystone. It answers within
// milliseconds; a pass must not wait for one that does not.
const Timeout = 5 * time.Second

// identityHTTP asks the Keystone inside the cluster and nobody else: what is sent
// to it is secret.
var identityHTTP = http.Client{
	Transport:     &http.Transport{Proxy: nil, IdleConnTimeout: time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func identityClient(authURL string) *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: identityHTTP}, Endpoint: gophercloud.NormalizeURL(authURL),
	}
}

// Verdict is what Keystone says about an application credential.
type Verdict int

const (
	// Unproven means that Keystone gave no usable answer.
	Unproven Verdict = iota
	// Accepted means that Keystone gave a token for it.
	Accepted
	// Rejected means that Keystone knows no such credential, or another secret.
	Rejected
)

// Login asks Keystone at a URL for a token with an application credential. The
// error says why there is no verdict; it never holds the secret.
type Login func(ctx context.Context, authURL, id, secret string) (Verdict, error)

// logIn is Login over HTTP.
func logIn(ctx context.Context, authURL, id, secret string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := tokens.Create(ctx, identityClient(authURL), &tokens.AuthOptions{
		ApplicationCredentialID: id, ApplicationCredentialSecret: secret,
	}).Err
	switch {
	case err == nil:
		return Accepted, nil
	case gophercloud.ResponseCodeIs(err, http.StatusUnauthorized), isUnknown(err, id):
		return Rejected, nil
	}
	return Unproven, fmt.Errorf("logging in at Keystone: %w", plain(err))
}

// isUnknown reports whether Keystone says that it does not find the credential. It
// names it then, as nobody does who merely does not know the path.
func isUnknown(err error, id string) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && answer.Actual == http.StatusNotFound && strings.Contains(string(answer.Body), id)
}

// Revoke makes sure that Keystone at a URL has an application credential of the
// administrator no longer. It is no error when there is none. The error never
// holds the password.
type Revoke func(ctx context.Context, authURL, password, id string) error

// RevokeOverHTTP is Revoke over HTTP.
func RevokeOverHTTP(ctx context.Context, authURL, password, id string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, admin, err := asAdministrator(ctx, authURL, password)
	if err != nil {
		return err
	}
	err = applicationcredentials.Delete(ctx, identity, admin.ID, id).ExtractErr()
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return fmt.Errorf("revoking application credential %s: %w", id, plain(err))
	}
	return nil
}

// asAdministrator logs in at Keystone with the administrator's password.
func asAdministrator(ctx context.Context, authURL, password string) (*gophercloud.ServiceClient, *tokens.User, error) {
	identity := identityClient(authURL)
	created := tokens.Create(ctx, identity, &tokens.AuthOptions{
		Username: clouds.AdminUser, Password: password, DomainName: clouds.DefaultDomain,
		Scope: tokens.Scope{ProjectName: clouds.AdminProject, DomainName: clouds.DefaultDomain},
	})
	token, err := created.ExtractTokenID()
	if err != nil {
		return nil, nil, fmt.Errorf("logging in at Keystone with the administrator's password: %w", plain(err))
	}
	user, err := created.ExtractUser()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the administrator's id: %w", err)
	}
	identity.SetToken(token)
	return identity, user, nil
}

// plain leaves out what differs from one call to the next, such as ports: the
// text goes into conditions, and each change of one is a write.
func plain(err error) error {
	var answer gophercloud.ErrUnexpectedResponseCode
	var name *net.DNSError
	var network *net.OpError
	switch {
	case errors.As(err, &answer):
		return fmt.Errorf("it answered with status %d", answer.Actual)
	case errors.As(err, &name):
		return fmt.Errorf("the name %s cannot be resolved", name.Name)
	case errors.As(err, &network):
		return network.Err
	}
	return err
}
