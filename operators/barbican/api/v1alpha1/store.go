package v1alpha1

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceName returns the name of the Barbican.
func (s *BarbicanSecretStore) ServiceName() string { return s.Spec.BarbicanRef.Name }

// AttachmentStatus returns the status for steps to modify.
func (s *BarbicanSecretStore) AttachmentStatus() *commonv1.AttachmentStatus { return &s.Status }

// GetConditions returns the conditions of the status.
func (s *BarbicanSecretStore) GetConditions() []metav1.Condition { return s.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (s *BarbicanSecretStore) SetConditions(conditions []metav1.Condition) {
	s.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (s *BarbicanSecretStore) SetObservedGeneration(generation int64) {
	s.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (s *BarbicanSecretStore) StatusCopy() any { return *s.Status.DeepCopy() }

// Patterns of texts, as the schema states them.
var (
	vaultURL  = regexp.MustCompile(`^https?://([-.a-zA-Z0-9]+|\[[.:0-9a-fA-F]+\])(:[0-9]+)?(/[-._a-zA-Z0-9]+)*/?$`)
	vaultPath = regexp.MustCompile(`^[-._a-zA-Z0-9]+(/[-._a-zA-Z0-9]+)*$`)
)

// storeTable has the rules of a BarbicanSecretStore.
var storeTable = rules.Table[*BarbicanSecretStore]{
	{Path: "spec", Check: func(s *BarbicanSecretStore, at *field.Path) field.ErrorList {
		return s.Spec.SecretStoreSpec.Validate(at)
	}},
	{Path: "spec.barbicanRef.name", Check: func(s *BarbicanSecretStore, at *field.Path) field.ErrorList {
		if s.Spec.BarbicanRef.Name == "" {
			return field.ErrorList{field.Invalid(at, "", "name the Barbican")}
		}
		return nil
	}},
}

// PlaceIsImmutable says why the place of a store cannot be changed.
const PlaceIsImmutable = "the mount point and the namespace cannot be changed: secrets would lose their place"

// storeImmutables are the fields of a BarbicanSecretStore that cannot be changed.
var storeImmutables = []rules.Immutable[*BarbicanSecretStore]{
	{
		Path: "spec.barbicanRef", Message: "the Barbican cannot be changed: secrets would lose their place",
		Get: func(s *BarbicanSecretStore) any { return s.Spec.BarbicanRef },
	},
	{
		Path: "spec.vault.kvMountpoint", Message: PlaceIsImmutable,
		Get: func(s *BarbicanSecretStore) any { return s.Spec.Place() },
	},
}

// ValidateStore returns everything that is wrong with a BarbicanSecretStore on its own.
func ValidateStore(s *BarbicanSecretStore) field.ErrorList { return storeTable.Validate(s) }

// ValidateStoreUpdate returns what is wrong with replacing one BarbicanSecretStore with another,
// in addition to what ValidateStore returns for the new one.
func ValidateStoreUpdate(old, updated *BarbicanSecretStore) field.ErrorList {
	return rules.Unchanged(storeImmutables, old, updated)
}

// Place returns what of a store says where its secrets are. It is comparable.
func (spec *SecretStoreSpec) Place() any {
	return [...]string{spec.Type, spec.Vault.KVMountpoint, spec.Vault.Namespace}
}

// Validate returns everything that is wrong with a place for secrets.
func (spec *SecretStoreSpec) Validate(at *field.Path) (errs field.ErrorList) {
	vault := at.Child("vault")
	if spec.Type != StoreVault {
		errs = append(errs, field.NotSupported(at.Child("type"), spec.Type, []string{StoreVault}))
	}
	if !vaultURL.MatchString(spec.Vault.URL) {
		errs = append(errs, field.Invalid(vault.Child("url"), spec.Vault.URL, "it must begin with http:// or https://, and name a host"))
	}
	for name, path := range map[string]string{"kvMountpoint": spec.Vault.KVMountpoint, "namespace": spec.Vault.Namespace} {
		if !vaultPath.MatchString(path) && (path != "" || name == "kvMountpoint") {
			errs = append(errs, field.Invalid(vault.Child(name), path, "it must be a path without a slash at its ends"))
		}
	}
	if spec.Vault.CredentialsSecretRef.Name == "" {
		errs = append(errs, field.Invalid(vault.Child("credentialsSecretRef", "name"), "", "name the Secret"))
	}
	return append(errs, rules.Certificates(spec.Vault.CABundle, vault.Child("caBundle"))...)
}
