package main

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// codeLifetime is how long a browser has to come back to the client with its code.
const codeLifetime = time.Minute

// login is what a code stands for.
type login struct {
	client, user, redirect, nonce, challenge string
	expires                                  time.Time
}

// The form posts to its own address, which has the request of the client as its query.
var form = template.Must(template.New("login").Parse(`<!DOCTYPE html>
<html lang="en">
  <head><meta charset="utf-8"><title>Log in</title></head>
  <body>
    <h1>Log in to {{.Client}}</h1>
    {{if .Wrong}}<p id="error">The name or the password is wrong.</p>{{end}}
    <form method="post">
      <label>Name <input id="username" name="username" autocomplete="username" required></label>
      <label>Password <input id="password" name="password" type="password" autocomplete="current-password" required></label>
      <button id="login" type="submit">Log in</button>
    </form>
  </body>
</html>
`))

// request returns the request of a client, and the URL for its answer. The URL is nil if nobody knows
// that the client has it: then a browser must not be sent there.
func (r *realm) request(query url.Values) (wanted login, back *url.URL) {
	wanted = login{
		client: query.Get("client_id"), redirect: query.Get("redirect_uri"), nonce: query.Get("nonce"), challenge: query.Get("code_challenge"),
	}
	if !slices.Contains(r.Clients[wanted.client].Redirects, wanted.redirect) {
		return wanted, nil
	}
	back, err := url.Parse(wanted.redirect)
	if err != nil {
		return wanted, nil
	}
	return wanted, back
}

// fault returns what is wrong with the request of a client, "" for nothing. All clients need PKCE.
func fault(query url.Values) string {
	switch {
	case query.Get("response_type") != "code":
		return "unsupported_response_type"
	case !slices.Contains(strings.Fields(query.Get("scope")), "openid"):
		return "invalid_scope"
	case query.Get("code_challenge") == "" || query.Get("code_challenge_method") != "S256":
		return "invalid_request"
	}
	return ""
}

// accepted answers requests with an error, and reports whether the form is to be shown.
func (r *realm) accepted(w http.ResponseWriter, req *http.Request) (wanted login, back *url.URL, ok bool) {
	query := req.URL.Query()
	wanted, back = r.request(query)
	if back == nil {
		http.Error(w, "The client or its redirect URI is unknown.", http.StatusBadRequest)
		return wanted, nil, false
	}
	if code := fault(query); code != "" {
		send(w, req, back, url.Values{"error": {code}})
		return wanted, nil, false
	}
	return wanted, back, true
}

// showForm asks a browser for a name and a password.
func (r *realm) showForm(w http.ResponseWriter, req *http.Request) {
	if wanted, _, ok := r.accepted(w, req); ok {
		show(w, http.StatusOK, wanted.client, false)
	}
}

// logIn sends a browser back to the client with a code.
func (r *realm) logIn(w http.ResponseWriter, req *http.Request) {
	wanted, back, ok := r.accepted(w, req)
	if !ok {
		return
	}
	wanted.user = req.PostFormValue("username")
	if !r.knows(r.Users[wanted.user].account, req.PostFormValue("password")) {
		show(w, http.StatusUnauthorized, wanted.client, true)
		return
	}
	wanted.expires = r.now().Add(codeLifetime)
	code := rand.Text()
	r.mu.Lock()
	r.codes[code] = wanted
	r.mu.Unlock()
	send(w, req, back, url.Values{"code": {code}})
}

// redeem returns the login of a code, which counts once.
func (r *realm) redeem(code string) (found login, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok = r.codes[code]
	delete(r.codes, code)
	return found, ok && r.now().Before(found.expires)
}

func show(w http.ResponseWriter, status int, client string, wrong bool) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = form.Execute(w, map[string]any{"Client": client, "Wrong": wrong})
}

// send sends the browser back to the client, with the state that the client has given.
func send(w http.ResponseWriter, req *http.Request, back *url.URL, values url.Values) {
	query := back.Query()
	for name := range values {
		query.Set(name, values.Get(name))
	}
	if state := req.URL.Query().Get("state"); state != "" {
		query.Set("state", state)
	}
	back.RawQuery = query.Encode()
	http.Redirect(w, req, back.String(), http.StatusSeeOther)
}
