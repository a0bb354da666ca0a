// Package login builds the clouds.yaml of an administrator and runs a shell with it.
package login

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keyClouds is the key of a Secret that holds a clouds.yaml.
const keyClouds = "clouds.yaml"

// The project and the domain that "keystone-manage bootstrap" gives the
// administrator.
const (
	AdminProject  = "admin"
	DefaultDomain = "Default"
)

// CloudName is the cloud's name in a generated clouds.yaml.
const CloudName = "forge"

// Source says where the credentials are.
type Source struct {
	Namespace, Secret, Key string
	// Service is Keystone's Service, for clients outside the cluster.
	Service string
	// Cloud is the name of the cloud in the clouds.yaml.
	Cloud string
	// Public is set if the endpoint is reachable from outside the cluster, as
	// far as its name shows.
	Public bool
}

// FromKeystone is the source of a Keystone's administrator.
func FromKeystone(k *keystonev1alpha1.Keystone) (Source, error) {
	if k.Status.Endpoint == "" {
		return Source{}, fmt.Errorf("keystone %s has no endpoint yet: see \"kubectl forge status keystone/%s\"", k.Name, k.Name)
	}
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return Source{
		Namespace: k.Namespace, Secret: ref.Name, Key: ref.KeyOr("password"), Service: k.Name,
		Cloud: CloudName, Public: public(k.Status.Endpoint),
	}, nil
}

// FromControlPlane is the source of a ControlPlane's administrator: the Secret
// that K-ORC works with.
func FromControlPlane(cp *c5c3v1alpha1.ControlPlane) Source {
	ref := cp.Spec.KORC.AdminCredential.CloudCredentialsRef
	return Source{Namespace: cp.Namespace, Secret: ref.SecretName, Key: keyClouds, Service: cp.KeystoneName(), Cloud: ref.CloudName}
}

// public reports whether the endpoint is not that of a Service.
func public(endpoint string) bool { return !strings.Contains(endpoint, ".svc") }

// document is a clouds.yaml. See
// https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html.
type document struct {
	Clouds map[string]map[string]any `json:"clouds"`
}

// KeystoneClouds is the clouds.yaml of a Keystone's administrator.
func KeystoneClouds(k *keystonev1alpha1.Keystone, password string) ([]byte, error) {
	reached := "internal"
	if public(k.Status.Endpoint) {
		reached = "public"
	}
	return yaml.Marshal(document{map[string]map[string]any{CloudName: {
		"auth": map[string]any{
			"auth_url": k.Status.Endpoint, "username": k.Spec.Bootstrap.AdminUser, "password": password,
			"project_name": AdminProject, "user_domain_name": DefaultDomain, "project_domain_name": DefaultDomain,
		},
		"region_name": k.Spec.Bootstrap.Region, "identity_api_version": 3, "interface": reached,
	}}})
}

// Redirect makes the cloud of a clouds.yaml use another address of Keystone, such
// as the local end of a port forwarding, whatever the catalog says.
func Redirect(clouds []byte, cloud, address string) ([]byte, error) {
	var parsed document
	if err := yaml.Unmarshal(clouds, &parsed); err != nil {
		return nil, errors.New("the clouds.yaml in the Secret cannot be parsed")
	}
	entry, known := parsed.Clouds[cloud]
	if !known {
		return nil, fmt.Errorf("the clouds.yaml in the Secret has no cloud %q, only %s", cloud,
			strings.Join(slices.Sorted(maps.Keys(parsed.Clouds)), ", "))
	}
	auth, isMap := entry["auth"].(map[string]any)
	if !isMap {
		return nil, fmt.Errorf("cloud %q in the clouds.yaml has no \"auth\"", cloud)
	}
	auth["auth_url"], entry["identity_endpoint_override"] = address, address
	return yaml.Marshal(document{map[string]map[string]any{cloud: entry}})
}
