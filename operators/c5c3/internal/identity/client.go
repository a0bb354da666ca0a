// Package identity queries Keystone in the background for facts that K-ORC cannot provide,
// and stores the answers, so that no pass waits for Keystone.
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
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/internal/common/ask"
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

// Credential is an application credential.
type Credential struct{ ID, Secret string }

// Login asks Keystone at a URL for a token with an application credential. [ask.Rejected] means
// that Keystone knows no such credential or has another secret for it. The error says why the
// verdict is [ask.Unproven]; it never holds the secret.
type Login func(ctx context.Context, authURL, id, secret string) (ask.Verdict, error)

// LogIn is Login over HTTP.
func LogIn(ctx context.Context, authURL, id, secret string) (ask.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	_, verdict, err := Credential{ID: id, Secret: secret}.token(ctx, authURL)
	return verdict, err
}

// token is the one that Keystone gives for the credential when that is accepted.
func (c Credential) token(ctx context.Context, authURL string) (tokens.CreateResult, ask.Verdict, error) {
	created := tokens.Create(ctx, identityClient(authURL), &tokens.AuthOptions{
		ApplicationCredentialID: c.ID, ApplicationCredentialSecret: c.Secret,
	})
	switch err := created.Err; {
	case err == nil:
		return created, ask.Accepted, nil
	case gophercloud.ResponseCodeIs(err, http.StatusUnauthorized), isUnknown(err, c.ID):
		return created, ask.Rejected, nil
	default:
		return created, ask.Unproven, fmt.Errorf("logging in at Keystone: %w", plain(err))
	}
}

// isUnknown reports whether Keystone says that it does not find what has the id. It
// names it then, as nobody does who merely does not know the path.
func isUnknown(err error, id string) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && answer.Actual == http.StatusNotFound && strings.Contains(string(answer.Body), id)
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
