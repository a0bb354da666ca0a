// Package oidc renders the configuration of a Keystone whose users log in at OpenID Connect providers, and that of
// the proxy, which users of SAML providers need, too.
package oidc

import (
	_ "embed"
	"fmt"
	"net/url"
	"strings"
	"text/template"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Folder is where the proxy has the files of the providers, in a folder for each backend.
const Folder = "/etc/keystone/providers"

// Folders of the proxy for SAML.
const (
	// ServiceProviders is where the metadata of Keystone is, in a file for each backend that [ServiceProviderFile] names.
	ServiceProviders = "/etc/keystone/proxy"
	// KeyPair is where the proxy has the key and the certificate of Keystone, named as in a Secret with TLS.
	KeyPair = "/etc/keystone/service-provider"
)

// PassphraseVariable is the environment variable of the proxy with the passphrase of sessions.
const PassphraseVariable = "OS_OIDC_PASSPHRASE"

// firstPort is that of the virtual host of the first provider, on the loopback address.
const firstPort = 5101

//go:embed files/apache.conf
var apacheTemplate string

var apache = template.Must(template.New("apache.conf").Funcs(template.FuncMap{"join": strings.Join}).Parse(apacheTemplate))

// Proxy is what the configuration of the proxy depends on.
type Proxy struct {
	// Port is that of the API, and UWSGI the one of uWSGI on the loopback address.
	Port, UWSGI int32
	// Endpoint is the URL of the API for users, which may have a path before that of the API.
	Endpoint string
	// Cache are the memcached servers.
	Cache []string
	// DrainMarker is the file that exists once the pod is about to stop.
	DrainMarker string
	// KeepAlive leaves connections of clients open, for so many seconds.
	KeepAlive        bool
	KeepAliveTimeout int32
	// Backends are those of the types OIDC and SAML.
	Backends []*keystonev1alpha1.KeystoneIdentityBackend
}

// host is the virtual host of a provider.
type host struct {
	Backend, IdentityProvider string
	Port                      int
	// Bearer is the path for clients with a token, Redirect the one to which the provider sends browsers,
	// and Paths are all that go to the host.
	Bearer, Redirect string
	Paths            []string
	// Mellon is the path of SAML's own requests, "" for another type, and File describes Keystone to the provider.
	Mellon, File string
}

// Config returns the configuration of Apache. It contains no secret: those are in the files of the
// providers. The paths of logins are the only ones that do not go to uWSGI at once.
func (p Proxy) Config() (string, error) {
	public, err := url.Parse(p.Endpoint)
	if err != nil {
		return "", fmt.Errorf("the URL of the API: %w", err)
	}
	values := struct {
		Proxy
		Origin, OriginPath, Prefix, Folder, ServiceProviders, KeyPair string
		OIDC, SAML, Secure                                            bool
		Hosts                                                         []host
	}{
		// In a path, Apache makes one slash of two.
		Proxy: p, Origin: public.Scheme + "://" + public.Host, OriginPath: public.Scheme + ":/" + public.Host,
		Secure: public.Scheme == "https",
		Folder: Folder, ServiceProviders: ServiceProviders, KeyPair: KeyPair,
	}
	values.Prefix = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(public.EscapedPath(), "/"), keystonev1alpha1.APIPath), "/")
	for i, backend := range p.Backends {
		values.Hosts = append(values.Hosts, hostOf(backend, firstPort+i, len(p.Backends) == 1))
		values.OIDC, values.SAML = values.OIDC || backend.Spec.OIDC != nil, values.SAML || backend.Spec.SAML != nil
	}
	var rendered strings.Builder
	if err := apache.Execute(&rendered, values); err != nil {
		return "", fmt.Errorf("the configuration of the proxy: %w", err)
	}
	return rendered.String(), nil
}

// hostOf returns the virtual host of a backend. The only one of a Keystone also has the path that names
// no identity provider.
func hostOf(b *keystonev1alpha1.KeystoneIdentityBackend, port int, only bool) host {
	name, protocol := b.IdentityProviderName(), b.ProtocolName()
	path := "/OS-FEDERATION/identity_providers/" + name + "/protocols/" + protocol
	login := keystonev1alpha1.APIPath + "/auth" + path + "/websso"
	h := host{
		Backend: b.Name, IdentityProvider: name, Port: port,
		Bearer: keystonev1alpha1.APIPath + path + "/auth", Redirect: login + "/redirect",
	}
	h.Paths = []string{h.Bearer, login}
	if b.Spec.SAML != nil {
		h.Mellon, h.File, h.Paths = login+mellon, ServiceProviderFile(b), []string{login}
	}
	if only {
		h.Paths = append(h.Paths, keystonev1alpha1.APIPath+"/auth/OS-FEDERATION/websso/"+protocol)
	}
	return h
}

// mellon is the path of SAML's own requests, below that of the login.
const mellon = "/mellon"

// MellonURL returns the URL of SAML's own requests of a backend. The endpoint is the URL of the API for users.
func MellonURL(endpoint string, b *keystonev1alpha1.KeystoneIdentityBackend) string {
	return strings.TrimRight(endpoint, "/") + strings.TrimPrefix(hostOf(b, firstPort, false).Mellon, keystonev1alpha1.APIPath)
}

// ServiceProviderFile returns the name of the file that describes Keystone to the provider of a backend.
func ServiceProviderFile(b *keystonev1alpha1.KeystoneIdentityBackend) string {
	return "saml-" + b.Name + ".xml"
}
