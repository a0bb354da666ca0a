// Package clouds writes and parses the clouds.yaml for the logins of K-ORC and other
// clients of a ControlPlane.
package clouds

import (
	"fmt"

	"sigs.k8s.io/yaml"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Key is the key of a Secret from which K-ORC reads a clouds.yaml.
const Key = "clouds.yaml"

// The administrator, with the defaults of keystone-manage bootstrap.
const (
	AdminUser     = "admin"
	AdminProject  = "admin"
	DefaultDomain = "Default"
)

// ServiceUser is the name of the cloud in which K-ORC works as the user of a service.
const ServiceUser = "service-user"

// file is a clouds.yaml. See
// https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html.
type file struct {
	Clouds map[string]cloud `json:"clouds"`
}

type cloud struct {
	AuthType   string    `json:"auth_type,omitempty"`
	Auth       cloudAuth `json:"auth"`
	RegionName string    `json:"region_name"`
	// EndpointType keeps K-ORC inside the cluster. K-ORC does not support the name
	// interface, which other clients use.
	EndpointType       string `json:"endpoint_type"`
	IdentityAPIVersion int    `json:"identity_api_version"`
}

type cloudAuth struct {
	AuthURL           string `json:"auth_url"`
	Username          string `json:"username,omitempty"`
	Password          string `json:"password,omitempty"`
	ProjectName       string `json:"project_name,omitempty"`
	UserDomainName    string `json:"user_domain_name,omitempty"`
	ProjectDomainName string `json:"project_domain_name,omitempty"`
	SystemScope       string `json:"system_scope,omitempty"`
	CredentialID      string `json:"application_credential_id,omitempty"`
	CredentialSecret  string `json:"application_credential_secret,omitempty"`
}

// System returns the name of the cloud for what Keystone only permits to a system
// administrator, not to a project administrator: reading and creating projects and roles.
func System(cp *c5c3v1alpha1.ControlPlane) string {
	return cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName + "-system"
}

func newCloud(authURL string, cp *c5c3v1alpha1.ControlPlane, auth cloudAuth) cloud {
	auth.AuthURL = authURL
	return cloud{Auth: auth, RegionName: cp.Spec.Region, EndpointType: "internal", IdentityAPIVersion: 3}
}

func passwordAuth(password string) cloudAuth {
	return cloudAuth{Username: AdminUser, Password: password, UserDomainName: DefaultDomain}
}

func projectCloud(authURL string, cp *c5c3v1alpha1.ControlPlane, password string) cloud {
	auth := passwordAuth(password)
	auth.ProjectName, auth.ProjectDomainName = AdminProject, DefaultDomain
	return newCloud(authURL, cp, auth)
}

// Seed returns the clouds.yaml that K-ORC uses before there is an application credential.
func Seed(authURL string, cp *c5c3v1alpha1.ControlPlane, password string) ([]byte, error) {
	name := cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName
	return marshal(map[string]cloud{name: projectCloud(authURL, cp, password)})
}

// Password returns the clouds.yaml with which K-ORC creates application credentials and
// bootstrap resources.
func Password(authURL string, cp *c5c3v1alpha1.ControlPlane, password string) ([]byte, error) {
	system := passwordAuth(password)
	system.SystemScope = "all"
	return marshal(map[string]cloud{
		cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName: projectCloud(authURL, cp, password),
		System(cp): newCloud(authURL, cp, system),
	})
}

// User returns the clouds.yaml with which K-ORC creates the application credential of the user
// of a service: Keystone lets only the user itself create one, for the project of its token.
func User(authURL string, cp *c5c3v1alpha1.ControlPlane, name, password, project string) ([]byte, error) {
	return marshal(map[string]cloud{ServiceUser: newCloud(authURL, cp, cloudAuth{
		Username: name, Password: password, UserDomainName: DefaultDomain, ProjectName: project, ProjectDomainName: DefaultDomain,
	})})
}

// Credential returns the clouds.yaml with the application credential.
func Credential(authURL string, cp *c5c3v1alpha1.ControlPlane, id, secret string) ([]byte, error) {
	entry := newCloud(authURL, cp, cloudAuth{CredentialID: id, CredentialSecret: secret})
	entry.AuthType = "v3applicationcredential"
	return marshal(map[string]cloud{cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName: entry})
}

func marshal(entries map[string]cloud) ([]byte, error) {
	text, err := yaml.Marshal(file{Clouds: entries})
	if err != nil {
		return nil, fmt.Errorf("writing a clouds.yaml: %w", err)
	}
	return text, nil
}

// CredentialIn returns the ID and secret of the first application credential in a
// clouds.yaml, both empty if there is none. Errors are not returned because they could
// quote the content.
func CredentialIn(text []byte) (id, secret string) {
	var parsed file
	if yaml.Unmarshal(text, &parsed) != nil {
		return "", ""
	}
	for _, entry := range parsed.Clouds {
		if entry.Auth.CredentialID != "" && entry.Auth.CredentialSecret != "" {
			return entry.Auth.CredentialID, entry.Auth.CredentialSecret
		}
	}
	return "", ""
}

// HasCredential reports whether a clouds.yaml holds an application credential. The one that
// K-ORC works with before there is any holds the administrator's password.
func HasCredential(text []byte) bool {
	id, _ := CredentialIn(text)
	return id != ""
}
