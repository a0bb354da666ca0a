package secretaggregate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

const (
	componentLabel     = "app.kubernetes.io/component"
	aggregateComponent = "secret-aggregate"
)

// credentialSecret is a Secret with a credential, and the keys that belong to the control
// plane. Other keys in a Secret of the user are ignored.
type credentialSecret struct {
	credential c5c3v1alpha1.AggregatedCredential
	name       string
	keys       []string
}

// credentialSecrets returns all Secrets that can be aggregated, in the order in which
// they become available.
func credentialSecrets(cp *c5c3v1alpha1.ControlPlane) []credentialSecret {
	database, admin := cp.DatabaseSecretRef(), cp.AdminSecretRef()
	return []credentialSecret{
		{c5c3v1alpha1.AggregatedDatabaseCredentials, database.Name, []string{
			commonv1.UsernameKey, database.KeyOr(commonv1.PasswordKey),
		}},
		{c5c3v1alpha1.AggregatedAdminPassword, admin.Name, []string{admin.KeyOr(c5c3v1alpha1.DefaultAdminPasswordKey)}},
		{
			c5c3v1alpha1.AggregatedAdminApplicationCredential, cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName,
			[]string{clouds.Key},
		},
	}
}

// aggregateEntry is an entry of the aggregated Secret and its source.
type aggregateEntry struct {
	key          string
	credential   c5c3v1alpha1.AggregatedCredential
	secret, from string
}

// aggregateEntries returns what the SecretAggregate asks for, with the names that the
// Secrets have in the control plane. It is an error to ask for an entry that can never
// exist.
func aggregateEntries(
	aggregate *c5c3v1alpha1.SecretAggregate, cp *c5c3v1alpha1.ControlPlane, reserved func(string, *c5c3v1alpha1.ControlPlane) bool,
) ([]aggregateEntry, error) {
	if name := aggregate.TargetSecret(); belongsTo(cp, name) || reserved(name, cp) {
		return nil, fmt.Errorf("spec.targetSecretName: Secret %s belongs to ControlPlane %s; choose another name", name, cp.Name)
	}
	var entries []aggregateEntry
	for _, from := range credentialSecrets(cp) {
		source, wanted := sourceOf(aggregate, from.credential)
		if !wanted {
			continue
		}
		keys := source.Keys
		if len(keys) == 0 {
			keys = from.keys
		}
		for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
			if !slices.Contains(from.keys, key) {
				return nil, fmt.Errorf("%s has no entry %q: spec.sources[].keys may name %s",
					from.credential, key, strings.Join(from.keys, " and "))
			}
			entry := aggregateEntry{key: source.Prefix() + key, credential: from.credential, secret: from.name, from: key}
			if problems := validation.IsConfigMapKey(entry.key); len(problems) > 0 {
				return nil, fmt.Errorf("spec.sources[].keyPrefix of %s makes %q of the entry %q, which cannot be a key: %s",
					from.credential, entry.key, key, strings.Join(problems, ", "))
			}
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// sourceOf returns the source of the credential; wanted is false if sources are listed
// and this one is not among them.
func sourceOf(
	aggregate *c5c3v1alpha1.SecretAggregate, credential c5c3v1alpha1.AggregatedCredential,
) (source c5c3v1alpha1.SecretAggregateSource, wanted bool) {
	sources := aggregate.Spec.Sources
	i := slices.IndexFunc(sources, func(s c5c3v1alpha1.SecretAggregateSource) bool { return s.Credential == credential })
	if i >= 0 {
		return sources[i], true
	}
	return c5c3v1alpha1.SecretAggregateSource{Credential: credential}, len(sources) == 0
}

// belongsTo reports whether the control plane has, or will have, a Secret of the name. An
// aggregate that created it first would block the control plane.
func belongsTo(cp *c5c3v1alpha1.ControlPlane, name string) bool {
	isCredential := slices.ContainsFunc(credentialSecrets(cp), func(from credentialSecret) bool { return from.name == name })
	return isCredential || name == cp.ApplicationCredentialName() || name == cp.PasswordCloudSecretName()
}

// keyCollision returns an error that names sources whose entries have the same key.
func keyCollision(entries []aggregateEntry) error {
	first := map[string]aggregateEntry{}
	for _, entry := range entries {
		other, taken := first[entry.key]
		if taken {
			return fmt.Errorf("%s and %s would both be the entry %q: give one of them another keyPrefix",
				other.credential, entry.credential, entry.key)
		}
		first[entry.key] = entry
	}
	return nil
}

// missingEntries names the entries that do not exist yet.
func missingEntries(entries []aggregateEntry, found map[string]*corev1.Secret) []string {
	var missing []string
	for _, entry := range entries {
		secret := found[entry.secret]
		switch {
		case secret == nil:
			missing = append(missing, fmt.Sprintf("Secret %s (%s)", entry.secret, entry.credential))
		case len(secrets.MissingKeys(secret, entry.from)) > 0:
			missing = append(missing, fmt.Sprintf("key %s in Secret %s (%s)", entry.from, entry.secret, entry.credential))
		case entry.credential == c5c3v1alpha1.AggregatedAdminApplicationCredential && !clouds.HasCredential(secret.Data[entry.from]):
			missing = append(missing, fmt.Sprintf("an application credential in Secret %s (%s)", entry.secret, entry.credential))
		}
	}
	return slices.Compact(missing)
}

// aggregateSecret builds the aggregated Secret. All entries must exist.
func aggregateSecret(
	aggregate *c5c3v1alpha1.SecretAggregate, cp *c5c3v1alpha1.ControlPlane, entries []aggregateEntry, found map[string]*corev1.Secret,
) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: controlplane.ChildMeta(cp, aggregate.TargetSecret()), Data: map[string][]byte{}}
	secret.Labels[componentLabel] = aggregateComponent
	for _, entry := range entries {
		secret.Data[entry.key] = found[entry.secret].Data[entry.from]
	}
	return secret
}
