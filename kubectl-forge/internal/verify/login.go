package verify

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

func (r *run) logIn(ctx context.Context, login Login) (token, string, error) {
	found, err := r.newToken(ctx, login, nil)
	answer, answered := answerOf(err)
	switch {
	case err == nil:
		return found, fmt.Sprintf("%s in project %s", found.user.Name, found.project), nil
	case answered && answer.ResponseHeader.Get(receiptHeader) != "":
		return found, "", fmt.Errorf("the password in Secret %s is right, but %s also needs another factor, which this command has not",
			login.Secret, login.Account.Username)
	case answered && (answer.Actual == http.StatusUnauthorized || answer.Actual == http.StatusNotFound):
		return found, "", fmt.Errorf("%w; it refuses what Secret %s holds: see \"kubectl forge status %s -n %s\"",
			err, login.Secret, r.Target.Arg(), r.Target.Namespace)
	}
	return found, "", err
}

func (r *run) logInWithCredential(ctx context.Context) (string, error) {
	if r.Credential.hasPassword() {
		return "", fmt.Errorf("secret %s still holds the administrator's password: see \"kubectl forge status %s -n %s\"",
			r.Credential.Secret, r.Target.Arg(), r.Target.Namespace)
	}
	_, text, err := r.logIn(ctx, *r.Credential)
	return text, err
}

// validate asks each pod of Keystone about the token, or Keystone if it is not reached through its pods.
func (r *run) validate(ctx context.Context, token token) (string, error) {
	pods, err := r.Network.Pods(ctx, r.URL)
	if err != nil {
		return "", err
	}
	until := "valid until " + token.expires.UTC().Format(time.RFC3339)
	if len(pods) > 1 {
		until += fmt.Sprintf(", for each of %d pods", len(pods))
	}
	for _, pod := range pods {
		if err := tokens.Get(ctx, r.identity(r.Network.ClientOf(pod), token.id), token.id).Err; err != nil {
			return "", fmt.Errorf("pod %s: %w", pod, explained(err, token.id))
		}
	}
	if len(pods) == 0 {
		return until, explained(tokens.Get(ctx, r.identity(r.Network.Client(), token.id), token.id).Err, token.id)
	}
	return until, nil
}
