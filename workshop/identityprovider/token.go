package main

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// tokenLifetime is how long tokens and assertions are valid.
const tokenLifetime = 10 * time.Minute

// What a client can get tokens for.
const (
	grantCode     = "authorization_code"
	grantPassword = "password"
	grantClient   = "client_credentials"
)

// claims are those of a token. Only a token for access has the ID of a client.
type claims struct {
	jwt.Claims
	Nonce    string   `json:"nonce,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Name     string   `json:"preferred_username,omitempty"`
	Email    string   `json:"email,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

// authenticated returns the ID of the client that sends the request. In a header its password is encoded as in a
// form (https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1), but the OpenStack client does not encode it.
func (r *realm) authenticated(req *http.Request) (id string, ok bool) {
	id, password, basic := req.BasicAuth()
	if !basic {
		id, password = req.PostFormValue("client_id"), req.PostFormValue("client_secret")
	}
	registered := r.Clients[id].account
	decoded, err := url.QueryUnescape(password)
	return id, r.knows(registered, password) || basic && err == nil && r.knows(registered, decoded)
}

// token answers the token endpoint.
func (r *realm) token(w http.ResponseWriter, req *http.Request) {
	id, ok := r.authenticated(req)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Basic")
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	found := login{client: id}
	switch req.PostFormValue("grant_type") {
	case grantCode:
		found, ok = r.redeem(req.PostFormValue("code"))
		ok = ok && found.client == id && found.redirect == req.PostFormValue("redirect_uri") &&
			found.challenge == challengeOf(req.PostFormValue("code_verifier"))
	case grantPassword:
		found.user = req.PostFormValue("username")
		ok = r.knows(r.Users[found.user].account, req.PostFormValue("password"))
	case grantClient:
	default:
		refuse(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	if !ok {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	r.issue(w, found, req.PostFormValue("scope"))
}

// challengeOf is that of a verifier with the method S256 (https://www.rfc-editor.org/rfc/rfc7636#section-4.6).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// issue answers with the tokens of a login.
func (r *realm) issue(w http.ResponseWriter, found login, scope string) {
	about := r.about(found)
	access, err := r.signed(about)
	content := map[string]any{"token_type": "Bearer", "expires_in": int(tokenLifetime.Seconds()), "access_token": access}
	if err == nil && (found.redirect != "" || slices.Contains(strings.Fields(scope), "openid")) {
		// What the user is a member of is at the userinfo endpoint only.
		identity := claims{Claims: about.Claims, Nonce: found.nonce, Name: about.Name}
		identity.Audience = jwt.Audience{found.client}
		content["id_token"], err = r.signed(identity)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "server_error")
		return
	}
	answer(w, http.StatusOK, content)
}

// about returns the claims of an access token. A login without a user is one of the client itself.
func (r *realm) about(found login) claims {
	name := found.user
	if name == "" {
		name = found.client
	}
	who, now := r.Users[found.user], r.now()
	audience := r.Clients[found.client].Audiences
	if len(audience) == 0 {
		audience = []string{found.client}
	}
	return claims{
		Claims: jwt.Claims{
			Issuer: r.issuer, Subject: name, Audience: audience,
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLifetime)),
		},
		ClientID: found.client, Name: name, Email: who.Email, Groups: who.Groups,
	}
}

func (r *realm) signed(c claims) (string, error) { return jwt.Signed(r.signer).Claims(c).Serialize() }

// verified returns the claims of an access token of this realm.
func (r *realm) verified(token string) (found claims, ok bool) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || parsed.Claims(r.key.Public(), &found) != nil || found.ClientID == "" {
		return claims{}, false
	}
	err = found.ValidateWithLeeway(jwt.Expected{Issuer: r.issuer, Time: r.now()}, 0)
	return found, err == nil
}

// userinfo says who has an access token.
func (r *realm) userinfo(w http.ResponseWriter, req *http.Request) {
	token, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	found, ok := r.verified(token)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	answer(w, http.StatusOK, claims{
		Claims: jwt.Claims{Subject: found.Subject}, Name: found.Name, Email: found.Email, Groups: found.Groups,
	})
}

// introspect tells a client about an access token (https://www.rfc-editor.org/rfc/rfc7662#section-2.2).
func (r *realm) introspect(w http.ResponseWriter, req *http.Request) {
	if _, ok := r.authenticated(req); !ok {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	found, ok := r.verified(req.PostFormValue("token"))
	if !ok {
		answer(w, http.StatusOK, map[string]bool{"active": false})
		return
	}
	answer(w, http.StatusOK, struct {
		claims
		Active bool `json:"active"`
	}{found, true})
}
