package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"

	"github.com/c5c3/forge/internal/common/attachment"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/ldap"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

type (
	identityBackend  = keystonev1alpha1.KeystoneIdentityBackend
	acceptedIdentity = attachment.Accepted[*identityBackend]
)

const (
	// domainsDir is where the files of identity backends are mounted.
	domainsDir = "/etc/keystone/domains"
	// domainsFolder is the folder below it in which Keystone looks for them. Keystone walks through
	// all folders, so that it would find the files of a volume twice in the folder of the mount.
	domainsFolder = "enabled"
	// domainFile verifies an identity backend, and creates its domain.
	domainFile = "identity_domain.py"
	// identityJobFile has what the scripts about identity backends share.
	identityJobFile = "identity_job.py"
	// domainRemovalFile deletes the domain of an identity backend.
	domainRemovalFile = "identity_domain_removal.py"
	// caFile has the certificates of all directories. A process can have one such file: the LDAP
	// library takes it for all connections.
	caFile = "ldap-ca.pem"
	// ownCAFile is the file of one backend with the certificates of its directory or its provider.
	ownCAFile = oidc.CAFile
	// directoryCAField is the field with the Secret of that.
	directoryCAField = "spec.ldap.tls.caBundleSecretRef"
)

// identityBackends declares KeystoneIdentityBackends. Nothing that cannot come back is stored in
// one: unless its domain is deleted, assignments of its users stay in the database.
var identityBackends = attachment.Declaration[*identityBackend]{
	For: &identityBackend{}, List: &keystonev1alpha1.KeystoneIdentityBackendList{}, AddToScheme: keystonev1alpha1.AddToScheme,
	Field: "spec.keystoneRef.name", Finalizer: "keystone.openstack.c5c3.io/in-use",
	Service: &keystonev1alpha1.Keystone{}, Definition: &pass.Definition,
	Guard: func(b *identityBackend) error {
		keystonev1alpha1.SetIdentityBackendDefaults(b)
		return keystonev1alpha1.ValidateIdentityBackend(b).ToAggregate()
	},
	Spec: configured,
	// MariaDB compares the names of domains in this way.
	Identity:    func(b *identityBackend) string { return "domain " + strings.ToLower(b.Spec.Domain.Name) },
	Credentials: credentials,
	CABundle:    caBundle,
	Conflict:    conflictingOptions,
	Options:     identityOptions,
	Report:      reportIdentity,
	Files: &attachment.Files[*identityBackend]{
		Render: domainFiles, Volume: "domains", Folder: domainsDir,
		Mounted: func(b *identityBackend) []corev1.KeyToPath {
			if b.Spec.LDAP == nil {
				return nil
			}
			return []corev1.KeyToPath{{Key: domainConfig(b), Path: domainsFolder + "/" + domainConfig(b)}}
		},
	},
	Verification: &attachment.Verification[*identityBackend]{
		Database: pass.Database, Command: verifyDomain,
		// Keystone loads no driver without its keys.
		Mounts: func(p *service.Pass) []deployment.Mount { return keys.Mounts(p.Resource.GetName()) },
	},
	Removal: &attachment.Removal[*identityBackend]{
		Wanted: deletesDomain, Consent: agreed, Command: removeDomain,
	},
	Accepted:   reconcile.NewSlot[[]acceptedIdentity]("IdentityBackends"),
	Unverified: reconcile.NewSlot[[]acceptedIdentity]("UnverifiedIdentityBackends"),
}

// credentials returns the Secret with the account that reads the directory, with the password of the client of a
// provider, or with the metadata of one. The spec may be invalid.
func credentials(b *identityBackend) *service.Requirement {
	switch {
	case b.Spec.LDAP != nil:
		return &service.Requirement{
			Name: b.Spec.LDAP.BindCredentialsSecretRef.Name, Keys: []string{ldap.UserKey, ldap.PasswordKey},
			Field: "spec.ldap.bindCredentialsSecretRef",
		}
	case b.Spec.OIDC != nil:
		return requirement(b.Spec.OIDC.ClientSecretRef, keystonev1alpha1.DefaultClientSecretKey, "spec.oidc.clientSecretRef")
	case b.Spec.SAML != nil && b.Spec.SAML.Metadata.SecretRef != nil:
		return requirement(*b.Spec.SAML.Metadata.SecretRef, keystonev1alpha1.DefaultSAMLMetadataKey, "spec.saml.metadata.secretRef")
	}
	return nil
}

// caBundle returns the Secret with the certificates of the CAs, nil if there is none.
func caBundle(b *identityBackend) *service.Requirement {
	switch {
	case b.Spec.LDAP != nil && b.Spec.LDAP.TLS != nil:
		return requirement(b.Spec.LDAP.TLS.CABundleSecretRef, keystonev1alpha1.DefaultCABundleKey, directoryCAField)
	case b.Spec.OIDC != nil && b.Spec.OIDC.CABundleSecretRef != nil:
		return requirement(*b.Spec.OIDC.CABundleSecretRef, keystonev1alpha1.DefaultCABundleKey, "spec.oidc.caBundleSecretRef")
	}
	return nil
}

func requirement(ref commonv1.SecretRefSpec, key, of string) *service.Requirement {
	return &service.Requirement{Name: ref.Name, Keys: []string{ref.KeyOr(key)}, Field: of}
}

// ownIdentityOptions are the options by which users configure domains themselves.
var ownIdentityOptions = []string{"driver", "domain_config_dir", "domain_configurations_from_database", "domain_specific_drivers_enabled"}

// conflictingOptions names the option in the spec by which users configure domains or logins at a
// provider themselves, "" if there is none.
func conflictingOptions(resource service.Resource, b *identityBackend) string {
	k, ok := resource.(*keystonev1alpha1.Keystone)
	if !ok {
		return ""
	}
	plugins := ini.File{}
	for _, plugin := range k.Spec.Plugins {
		plugins[plugin.ConfigSection] = plugin.Config
	}
	given := ini.File(k.Spec.GlobalExtraConfig).Merge(plugins, k.Spec.ExtraConfig)
	if b.IsFederated() {
		return conflictingFederation(k, b, given)
	}
	for _, option := range ownIdentityOptions {
		if _, set := given.Get("identity", option); set {
			return fmt.Sprintf("Keystone %s sets [identity] %s, with which it configures domains itself: remove that option, "+
				"or configure this domain there, too", k.Name, option)
		}
	}
	return ""
}

// identityOptions returns the options that make Keystone read the files of directories.
func identityOptions(_ *service.Pass, all []acceptedIdentity) ini.File {
	if !slices.ContainsFunc(all, func(a acceptedIdentity) bool { return a.Resource.Spec.LDAP != nil }) {
		return nil
	}
	return ini.File{"identity": {
		"domain_specific_drivers_enabled": "true", "domain_config_dir": domainsDir + "/" + domainsFolder,
	}}
}

// domainConfig returns the name of the file about the domain. Keystone finds the domain by it.
func domainConfig(b *identityBackend) string { return "keystone." + b.Spec.Domain.Name + ".conf" }

// domainFiles returns the files of one backend.
func domainFiles(a acceptedIdentity) (map[string]string, error) {
	if a.Resource.IsFederated() {
		return providerFiles(a)
	}
	options, err := ldap.Options(a.Resource.Spec.LDAP, a.Credentials, pass.ConfigDir+caFile)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	if files[domainConfig(a.Resource)], err = options.Render(); err != nil {
		return nil, err
	}
	if a.CABundle != nil {
		key := a.Resource.Spec.LDAP.TLS.CABundleSecretRef.KeyOr(keystonev1alpha1.DefaultCABundleKey)
		if files[ownCAFile], err = ldap.Certificates(a.CABundle, key, directoryCAField); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// directoryCertificates returns the certificates of all directories, "" without any.
func directoryCertificates(s *pass.Scope) string {
	var certificates []string
	for _, a := range identityBackends.Accepted.Value(s.Slots) {
		if own := a.Files[ownCAFile]; a.Resource.Spec.LDAP != nil && own != "" && !slices.Contains(certificates, own) {
			certificates = append(certificates, own)
		}
	}
	return strings.Join(certificates, "")
}

// reportAuthorities returns when the last certificate of the CAs ends, which the directory or the provider needs.
func reportAuthorities(a acceptedIdentity) (says string, expires time.Time) {
	certificates, err := cert.ParseCertsPEM([]byte(a.Files[ownCAFile]))
	if err != nil {
		return "", expires
	}
	for _, certificate := range certificates {
		if certificate.NotAfter.After(expires) {
			expires = certificate.NotAfter
		}
	}
	return "The last certificate of its CAs expires on " + expires.UTC().Format(time.DateOnly), expires
}

// configured returns what of a backend ends up in the configuration. Pods need not be replaced for
// another deletion policy.
func configured(b *identityBackend) any {
	spec := *b.Spec.DeepCopy()
	spec.Domain.DeletionPolicy = ""
	return spec
}

// ownDomainID is the ID of a domain that the operator creates for the backend. So it knows what it
// has created.
func ownDomainID(b *identityBackend) string { return strings.ReplaceAll(string(b.UID), "-", "") }

// verifyDomain is the command that creates or finds the domain, and logs in to the directory, or creates
// what logins at the provider need.
func verifyDomain(_ *service.Pass, b *identityBackend) []string {
	arguments := map[string]any{
		"name": b.Spec.Domain.Name, "id": ownDomainID(b), "description": b.Spec.Domain.Description,
		"adopt": b.Spec.Domain.Mode == keystonev1alpha1.DomainAdopt,
	}
	if b.IsFederated() {
		maps.Copy(arguments, providerArguments(b))
		return script(providerFile, arguments)
	}
	maps.Copy(arguments, map[string]any{
		"file": domainsDir + "/" + domainConfig(b), "certificates": domainsDir + "/" + ownCAFile,
	})
	return script(domainFile, arguments)
}

// deletesDomain reports whether the domain ends with the backend.
func deletesDomain(b *identityBackend) bool {
	return b.Spec.Domain.DeletionPolicy == commonv1.DeletionPolicyDelete && b.Spec.Domain.Mode == keystonev1alpha1.DomainManage
}

// consentPattern matches what identifies the content of a domain.
var consentPattern = regexp.MustCompile(`^[0-9a-f]{12}$`)

// agreed returns the content of the domain to whose deletion the user has agreed, "" for none.
func agreed(b *identityBackend) string {
	return consentPattern.FindString(b.Annotations[keystonev1alpha1.AnnotationDeleteDomain])
}

// removeDomain is the command that deletes the domain.
func removeDomain(_ *service.Pass, b *identityBackend) []string {
	return script(domainRemovalFile, map[string]any{
		"id": ownDomainID(b), "agreed": agreed(b), "annotation": keystonev1alpha1.AnnotationDeleteDomain,
	})
}

// script returns the command that runs a Python file with the arguments.
func script(file string, arguments map[string]any) []string {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // Texts and truth values can be encoded.
	}
	return []string{"python3", pass.ConfigDir + file, string(encoded)}
}

// reconcileIdentityBackends finds the identity backends that the Keystone uses, and makes the passphrase and the
// key pair that pods with a provider need. It owns IdentityBackendsReady.
func reconcileIdentityBackends(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	outcome := identityBackends.Reconcile(ctx, s.Pass)
	if err := errors.Join(ensurePassphrase(ctx, s), ensureKeyPair(ctx, s)); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	return outcome
}

// verifyIdentityBackends verifies those that pods are to get. It owns IdentityBackendsReady.
func verifyIdentityBackends(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return identityBackends.Verify(ctx, s.Pass)
}

// followIdentityBackends records which ones all pods have, and where users can log in. It owns
// IdentityBackendsReady.
func followIdentityBackends(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	outcome := identityBackends.Follow(ctx, s.Pass)
	s.Resource.Status.IdentityDomains = identityDomains(s)
	return outcome
}

// identityDomains returns the domains of the backends that all pods have. One that is being deleted is
// left out, so that nobody begins a login there.
func identityDomains(s *pass.Scope) []keystonev1alpha1.IdentityDomain {
	var domains []keystonev1alpha1.IdentityDomain
	for _, a := range identityBackends.Accepted.Value(s.Slots) {
		if !identityBackends.InUse(s.Pass, a.Resource) {
			continue
		}
		domain := keystonev1alpha1.IdentityDomain{Name: a.Resource.Spec.Domain.Name}
		if a.Resource.IsFederated() {
			domain.IdentityProvider, domain.Protocol = a.Resource.IdentityProviderName(), a.Resource.ProtocolName()
		}
		domains = append(domains, domain)
	}
	return domains
}
