// Package identity sends requests to Keystone that K-ORC cannot send. It does so in the
// background and remembers the answers, so that no pass waits for Keystone.
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

// Timeout bounds one exchange with Keystone. It normally answers within milliseconds; a
// pass must not wait for one that does not.
const Timeout = 5 * time.Second

// identityHTTP only connects to the Keystone inside the cluster, because the requests
// contain secrets.
var identityHTTP = http.Client{
	Transport:     &http.Transport{Proxy: nil, IdleConnTimeout: time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func identityClient(authURL string) *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: identityHTTP}, Endpoint: gophercloud.NormalizeURL(authURL),
	}
}

// Verdict is Keystone's answer about an application credential.
type Verdict int

const (
	// Unproven means that Keystone gave no usable answer.
	Unproven Verdict = iota
	// Accepted means that Keystone issued a token for it.
	Accepted
	// Rejected means that Keystone does not know the credential, or has another secret
	// for it.
	Rejected
)

// Login requests a token from the Keystone at a URL with an application credential. The
// error explains a missing verdict; it never contains the secret.
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

// isUnknown reports whether Keystone itself says that it cannot find the credential. It
// then quotes the ID, unlike a server that merely does not know the path.
func isUnknown(err error, id string) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && answer.Actual == http.StatusNotFound && strings.Contains(string(answer.Body), id)
}

// Revoke ensures that an application credential of the administrator is gone from the
// Keystone at a URL. It is no error if there is none. The error never contains the
// password.
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

// asAdministrator logs in to Keystone with the administrator's password.
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

// plain drops details that differ between calls, such as ports: the text becomes part of
// conditions, and each change of a condition is a write.
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
