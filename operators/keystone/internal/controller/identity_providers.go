package controller

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/login"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/saml"
)

const (
	// providerFile creates what logins at a provider need.
	providerFile = "identity_provider.py"
	// declaredFile has the rules and the groups of a backend.
	declaredFile = "declared.json"
	// proxyFile is the configuration of the proxy. Keystone reads all files of that folder whose names
	// end with .conf.
	proxyFile = "apache"
	// proxyDir is where the proxy has its configuration.
	proxyDir = oidc.ServiceProviders
	// passphraseKey is the key of the passphrase in its Secret.
	passphraseKey = "passphrase"
	// annotationPassphraseHash on pods is a hash of the passphrase.
	annotationPassphraseHash = "keystone.openstack.c5c3.io/proxy-passphrase-hash"
	// idleSeconds is how long uWSGI keeps an idle connection, and so does the proxy.
	idleSeconds = 60
)

// proxyPassphrase holds a hash of the passphrase with which the proxies of all pods encrypt sessions, ""
// without a provider.
var proxyPassphrase = reconcile.NewSlot[string]("ProxyPassphrase")

// providers returns the accepted backends of the types OIDC and SAML.
func providers(s *pass.Scope) []acceptedIdentity {
	return slices.DeleteFunc(slices.Clone(identityBackends.Accepted.Value(s.Slots)), func(a acceptedIdentity) bool {
		return !a.Resource.IsFederated()
	})
}

// ownFederationOptions are the options by which users configure logins at providers themselves.
var ownFederationOptions = []struct{ section, option string }{
	{"federation", "remote_id_attribute"}, {"federation", "assertion_prefix"},
}

// conflictingFederation names what in the spec needs a proxy of the users' own, or keeps users of the provider
// from logging in, "" for nothing.
func conflictingFederation(k *keystonev1alpha1.Keystone, b *identityBackend, given ini.File) string {
	if k.Spec.Federation != nil && k.Spec.Federation.Enabled {
		return fmt.Sprintf("Keystone %s has spec.federation.enabled, which trusts the headers of a proxy in front of it: "+
			"remove that, or configure this provider in that proxy", k.Name)
	}
	for _, own := range ownFederationOptions {
		if _, set := given.Get(own.section, own.option); set {
			return fmt.Sprintf("Keystone %s sets [%s] %s, without which no provider works: remove that option", k.Name, own.section, own.option)
		}
	}
	return conflictingMethods(k.Name, b, given)
}

// conflictingMethods names what is wrong with [auth] methods of the users' own, such as ones with totp, "" for
// nothing.
func conflictingMethods(keystone string, b *identityBackend, given ini.File) string {
	text, set := given.Get("auth", "methods")
	if !set {
		return ""
	}
	methods := login.Methods(text)
	if slices.Contains(methods, "external") {
		return fmt.Sprintf("Keystone %s sets [auth] methods with external, which takes each user of the proxy for one of the default "+
			"domain: remove that method", keystone)
	}
	for _, wanted := range []string{"mapped", b.ProtocolName()} {
		if !slices.Contains(methods, wanted) {
			return fmt.Sprintf("Keystone %s sets [auth] methods without %s, with which users of the provider log in: "+
				"add that method, or remove the option", keystone, wanted)
		}
	}
	return ""
}

// providerFiles returns the files of a backend of the type OIDC or SAML.
func providerFiles(a acceptedIdentity) (files map[string]string, err error) {
	if a.Resource.Spec.SAML != nil {
		files, err = saml.Files(a.Resource, a.Credentials, time.Now())
	} else {
		files, err = oidc.Files(a.Resource, a.Credentials, a.CABundle)
	}
	if err != nil {
		return nil, err
	}
	declared, err := json.Marshal(map[string]any{
		"rules": oidc.Rules(a.Resource.Spec.Mappings, a.Resource.Spec.Domain.Name), "groups": a.Resource.Spec.Groups,
	})
	if err != nil {
		return nil, fmt.Errorf("the rules of %s: %w", a.Resource.Name, err)
	}
	files[declaredFile] = string(declared)
	return files, nil
}

// providerArguments are those of the command that creates what logins at the provider need. A provider
// with endpoints, or one of SAML, has no document to compare the issuer with.
func providerArguments(b *identityBackend) map[string]any {
	arguments := map[string]any{
		"issuer": b.RemoteID(), "document": "", "certificates": "", "declared": domainsDir + "/" + declaredFile,
		"identity_provider": b.IdentityProviderName(), "protocol": b.ProtocolName(), "block": strings.ToLower(b.Spec.Type),
	}
	if b.Spec.OIDC == nil {
		return arguments
	}
	if b.Spec.OIDC.Endpoints == nil {
		arguments["document"] = oidc.DiscoveryURL(b.Spec.OIDC.Issuer)
	}
	if b.Spec.OIDC.CABundleSecretRef != nil {
		arguments["certificates"] = domainsDir + "/" + oidc.CAFile
	}
	return arguments
}

// addProxyFiles adds the configuration of the proxy, and the metadata of Keystone for providers.
func addProxyFiles(s *pass.Scope, files map[string]string) (err error) {
	all := providers(s)
	if len(all) == 0 {
		return nil
	}
	k := s.Resource
	proxy := oidc.Proxy{
		Port: s.Port, UWSGI: deployment.ProxiedPort(s.Pass), Endpoint: pass.PublicEndpoint(s.Cluster, k),
		Cache: k.Spec.Cache.Addresses(s.Cluster, k.Namespace), DrainMarker: deployment.DrainMarker(s.Pass),
	}
	uwsgi := ptr.Deref(k.Spec.UWSGI, commonv1.UWSGISpec{})
	proxy.KeepAlive = ptr.Deref(uwsgi.HTTPKeepAlive, commonv1.DefaultUWSGIHTTPKeepAlive)
	proxy.KeepAliveTimeout = ptr.Deref(uwsgi.HTTPKeepAliveTimeout, idleSeconds)
	for _, a := range all {
		proxy.Backends = append(proxy.Backends, a.Resource)
		if err := addServiceProvider(s, a.Resource, proxy.Endpoint, files); err != nil {
			return err
		}
	}
	files[proxyFile], err = proxy.Config()
	return err
}

// ensurePassphrase makes the passphrase once. Without it nobody could go on with a login on another pod.
// One that is lost is replaced: nothing but logins in progress depends on it.
func ensurePassphrase(ctx context.Context, s *pass.Scope) error {
	hash := ""
	if len(providers(s)) > 0 {
		desired := &corev1.Secret{ObjectMeta: s.Meta(passphraseName(s)), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{
			passphraseKey: []byte(rand.Text() + rand.Text()),
		}}
		secret, _, err := s.Owned.EnsureOnce(ctx, s.Resource, desired)
		if err != nil {
			return fmt.Errorf("the passphrase of the proxy: %w", err)
		}
		hash = secrets.ContentHash(secret)
	}
	proxyPassphrase.Put(s.Slots, hash)
	return nil
}

func passphraseName(s *pass.Scope) string { return s.Named("proxy-passphrase") }

// passphraseHash replaces the pods for another passphrase.
func passphraseHash(s *pass.Scope) map[string]string {
	if len(providers(s)) == 0 {
		return nil
	}
	return map[string]string{annotationPassphraseHash: proxyPassphrase.Value(s.Slots)}
}

// proxyOf returns the proxy of the API pods, nil without a provider.
func proxyOf(s *pass.Scope) *deployment.Proxy {
	if len(providers(s)) == 0 {
		return nil
	}
	// Of the files of Keystone it gets no other ones.
	config := &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: proxyFile, Path: "apache.conf"}}}
	config.Items = append(config.Items, serviceProviderFiles(s)...)
	config.Name = service.Config.Value(s.Slots).ConfigMap
	mounts := append(identityBackends.MountsAt(s.Pass, "providers", oidc.Folder, proxiedFiles), deployment.Mount{
		Path: proxyDir, Volume: corev1.Volume{Name: "proxy", VolumeSource: corev1.VolumeSource{ConfigMap: config}},
	})
	mounts = append(mounts, keyPairMounts(s)...)
	return &deployment.Proxy{Mounts: mounts, Container: corev1.Container{
		Name: "proxy", Image: s.Resource.Spec.ProxyImageOrDefault().Reference(),
		Command: []string{"apache2", "-D", "FOREGROUND", "-f", proxyDir + "/apache.conf"},
		Env: []corev1.EnvVar{
			deployment.SecretVariable(oidc.PassphraseVariable, passphraseName(s), passphraseKey),
			// Apache needs a folder that it can write to. The root file system is read-only.
			{Name: "TMPDIR", Value: "/dev/shm"},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
	}}
}

// proxiedFiles are the files of a backend that the proxy reads, in a folder with its name.
func proxiedFiles(a acceptedIdentity) (files []corev1.KeyToPath) {
	for _, name := range []string{oidc.ProviderFile, oidc.TokensFile, oidc.CAFile, saml.MetadataFile} {
		if _, there := a.Files[name]; there && a.Resource.IsFederated() {
			files = append(files, corev1.KeyToPath{Key: name, Path: a.Resource.Name + "/" + name})
		}
	}
	return files
}
