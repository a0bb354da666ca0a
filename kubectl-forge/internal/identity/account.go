// Package identity talks to a Keystone as one of its users.
package identity

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/redact"
)

// Account is what a user logs in with: a password, or an application credential.
type Account struct {
	User, UserDomain       string
	Password               redact.Bytes
	Project, ProjectDomain string

	CredentialID     string
	CredentialSecret redact.Bytes
}

// file is the part of a clouds.yaml that a login needs.
type file struct {
	Clouds map[string]struct {
		Auth struct {
			User             string `json:"username"`
			UserDomain       string `json:"user_domain_name"`
			Password         string `json:"password"`
			Project          string `json:"project_name"`
			ProjectDomain    string `json:"project_domain_name"`
			CredentialID     string `json:"application_credential_id"`
			CredentialSecret string `json:"application_credential_secret"`
		} `json:"auth"`
	} `json:"clouds"`
}

// Parse returns the account of a cloud in a clouds.yaml. No error quotes the file, which holds a
// secret.
func Parse(clouds []byte, cloud string) (Account, error) {
	var parsed file
	if err := yaml.Unmarshal(clouds, &parsed); err != nil {
		return Account{}, errors.New("the clouds.yaml in the Secret cannot be parsed")
	}
	entry, known := parsed.Clouds[cloud]
	auth := entry.Auth
	switch {
	case !known:
		return Account{}, fmt.Errorf("the clouds.yaml in the Secret has no cloud %q", cloud)
	case auth.CredentialID != "" && auth.CredentialSecret != "":
		return Account{CredentialID: auth.CredentialID, CredentialSecret: redact.Bytes(auth.CredentialSecret)}, nil
	case auth.User == "" || auth.Password == "":
		return Account{}, fmt.Errorf("cloud %q in the clouds.yaml has neither a password nor an application credential", cloud)
	}
	return Account{
		User: auth.User, UserDomain: auth.UserDomain, Password: redact.Bytes(auth.Password),
		Project: auth.Project, ProjectDomain: auth.ProjectDomain,
	}, nil
}

// HasPassword reports whether the account is a user with a password.
func (a Account) HasPassword() bool { return a.CredentialID == "" }

// Scope is what a token is for.
type Scope int

const (
	// OwnProject is the project of the account. An application credential has no other scope.
	OwnProject Scope = iota
	// System is the whole deployment. With enforce_new_defaults some releases let only a system
	// administrator create projects.
	System
)

type object = map[string]any

// body is the request for a token
// (https://docs.openstack.org/api-ref/identity/v3/#authentication-and-token-management).
func (a Account) body(scope Scope) object {
	if !a.HasPassword() {
		return object{"auth": object{"identity": object{
			"methods":                []string{"application_credential"},
			"application_credential": object{"id": a.CredentialID, "secret": string(a.CredentialSecret)},
		}}}
	}
	within := object{"project": object{"name": a.Project, "domain": object{"name": a.ProjectDomain}}}
	if scope == System {
		within = object{"system": object{"all": true}}
	}
	user := object{"name": a.User, "domain": object{"name": a.UserDomain}, "password": string(a.Password)}
	return object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": user}},
		"scope":    within,
	}}
}
