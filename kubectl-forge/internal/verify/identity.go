package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"sigs.k8s.io/yaml"
)

const (
	// maxMessage is the number of characters that are quoted of an error.
	maxMessage = 300

	// receiptHeader is in the answer to a correct password of a user who has to provide another
	// factor (https://docs.openstack.org/keystone/latest/admin/auth-receipts.html).
	receiptHeader = "Openstack-Auth-Receipt"
	// partHeader names what the API could not use. The operator's configuration of Keystone adds it.
	partHeader = "X-Forge-Failed-Part"
)

// Login is an account, and the Secret that holds its password.
type Login struct {
	Account gophercloud.AuthOptions
	Secret  string
}

// Format keeps the password out of everything that is printed.
func (l Login) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "the account in Secret %s", l.Secret)
}

// cloudsFile is the part of a clouds.yaml that a login needs.
type cloudsFile struct {
	Clouds map[string]struct {
		Auth clouds.AuthInfo `json:"auth"`
	} `json:"clouds"`
}

// ParseLogin returns the account of a cloud in the clouds.yaml of a Secret. No error quotes the file. What the user's own
// environment says, such as OS_CACERT, does not count.
func ParseLogin(secret, cloud string, content []byte) (Login, error) {
	var file cloudsFile
	if err := yaml.Unmarshal(content, &file); err != nil {
		return Login{}, fmt.Errorf("the clouds.yaml in Secret %s cannot be parsed", secret)
	}
	entry, known := file.Clouds[cloud]
	auth := entry.Auth
	account := gophercloud.AuthOptions{
		ApplicationCredentialID: auth.ApplicationCredentialID, ApplicationCredentialSecret: auth.ApplicationCredentialSecret,
	}
	switch {
	case !known:
		return Login{}, fmt.Errorf("the clouds.yaml in Secret %s has no cloud %q", secret, cloud)
	case auth.ApplicationCredentialID != "" && auth.ApplicationCredentialSecret != "":
	case auth.Username == "" || auth.Password == "":
		return Login{}, fmt.Errorf("cloud %q in the clouds.yaml of Secret %s has neither a password nor an application credential", cloud, secret)
	default:
		account = gophercloud.AuthOptions{
			Username: auth.Username, DomainName: auth.UserDomainName, Password: auth.Password,
			Scope: &gophercloud.AuthScope{ProjectName: auth.ProjectName, DomainName: auth.ProjectDomainName},
		}
	}
	return Login{account, secret}, nil
}

// hasPassword reports whether the account is a user with a password.
func (l Login) hasPassword() bool { return l.Account.ApplicationCredentialID == "" }

// token is one of the administrator's.
type token struct {
	id      string
	user    tokens.User
	project string
	expires time.Time
}

// identity returns a client of the Identity API with the token.
func (r *run) identity(over *http.Client, token string) *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: *over, TokenID: token}, Endpoint: gophercloud.NormalizeURL(r.URL),
	}
}

// newToken logs in, for the project of the account or, with the scope, for another one.
func (r *run) newToken(ctx context.Context, login Login, scope *gophercloud.AuthScope) (token, error) {
	account := login.Account
	if scope != nil {
		account.Scope = scope
	}
	created := tokens.Create(ctx, r.identity(r.Network.Client(), ""), &account)
	if created.Err != nil {
		return token{}, explained(created.Err, "")
	}
	value, err := created.ExtractToken()
	user, errUser := created.ExtractUser()
	project, errProject := created.ExtractProject()
	if err := errors.Join(err, errUser, errProject); err != nil || user == nil {
		return token{}, notKeystone(err)
	}
	found := token{id: value.ID, user: *user, expires: value.ExpiresAt}
	if project != nil {
		found.project = project.Name
	}
	return found, nil
}

func notKeystone(err error) error {
	return fmt.Errorf("the answer is not what the Identity API gives: %w", err)
}

// answerOf returns the answer that is not the expected one, if an error is about one.
func answerOf(err error) (gophercloud.ErrUnexpectedResponseCode, bool) {
	return errors.AsType[gophercloud.ErrUnexpectedResponseCode](err)
}

// explained describes what the API answered. It quotes no token, and without a token no message: the answer to a login may
// quote the password.
func explained(err error, token string) error {
	answer, answered := answerOf(err)
	if !answered {
		if _, odd := errors.AsType[*json.SyntaxError](err); odd {
			return notKeystone(err)
		}
		return err
	}
	text := fmt.Sprintf("%s %s: HTTP status %d", answer.Method, answer.URL, answer.Actual)
	var parsed struct{ Error struct{ Message string } }
	if token != "" && json.Unmarshal(answer.Body, &parsed) == nil && parsed.Error.Message != "" {
		text += ": " + strings.ReplaceAll(shortened(parsed.Error.Message), token, "***")
	}
	if part := answer.ResponseHeader.Get(partHeader); part != "" {
		text += "; it cannot use its " + part
	}
	answer.Info = text
	return answer
}

func shortened(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxMessage {
		return string(runes[:maxMessage]) + "…"
	}
	return string(runes)
}
