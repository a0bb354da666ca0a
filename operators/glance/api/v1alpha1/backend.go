package v1alpha1

import (
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceName returns the name of the Glance.
func (b *GlanceBackend) ServiceName() string { return b.Spec.GlanceRef.Name }

// AttachmentStatus returns the status for steps to modify.
func (b *GlanceBackend) AttachmentStatus() *commonv1.AttachmentStatus {
	return &b.Status.AttachmentStatus
}

// GetConditions returns the conditions of the status.
func (b *GlanceBackend) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (b *GlanceBackend) SetConditions(conditions []metav1.Condition) {
	b.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (b *GlanceBackend) SetObservedGeneration(generation int64) {
	b.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (b *GlanceBackend) StatusCopy() any { return *b.Status.DeepCopy() }

// Patterns of a name and of texts, as the schema states them, and the sections of Glance's
// configuration that would be valid names.
var (
	backendName   = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)
	s3Host        = regexp.MustCompile(`^[a-z0-9][-.:a-z0-9]*$`)
	s3Bucket      = regexp.MustCompile(`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`)
	reservedNames = []string{"barbican", "cache", "cors", "database", "healthcheck", "paste", "profiler", "task", "wsgi"}
)

// backendTable has the rules of a GlanceBackend.
var backendTable = rules.Table[*GlanceBackend]{
	{Path: "metadata.name", Check: checkBackendName},
	{Path: "spec", Check: func(b *GlanceBackend, at *field.Path) field.ErrorList { return b.Spec.BackendSpec.Validate(at) }},
	{Path: "spec.glanceRef.name", Check: func(b *GlanceBackend, at *field.Path) field.ErrorList {
		if b.Spec.GlanceRef.Name == "" {
			return field.ErrorList{field.Invalid(at, "", "name the Glance")}
		}
		return nil
	}},
}

// PlaceIsImmutable says why the place of a backend cannot be changed.
const PlaceIsImmutable = "the type, the bucket and the claim cannot be changed: images would lose their place"

// backendImmutables are the fields of a GlanceBackend that cannot be changed.
var backendImmutables = []rules.Immutable[*GlanceBackend]{
	{
		Path: "spec.glanceRef", Message: "the Glance cannot be changed: images would lose their place",
		Get: func(b *GlanceBackend) any { return b.Spec.GlanceRef },
	},
	{Path: "spec.type", Message: PlaceIsImmutable, Get: func(b *GlanceBackend) any { return b.Spec.Place() }},
}

// ValidateBackend returns everything that is wrong with a GlanceBackend on its own.
func ValidateBackend(b *GlanceBackend) field.ErrorList { return backendTable.Validate(b) }

// ValidateBackendUpdate returns what is wrong with replacing one GlanceBackend with another, in
// addition to what ValidateBackend returns for the new one.
func ValidateBackendUpdate(old, updated *GlanceBackend) field.ErrorList {
	return rules.Unchanged(backendImmutables, old, updated)
}

func checkBackendName(b *GlanceBackend, at *field.Path) field.ErrorList {
	if b.Name == "" {
		return nil
	}
	return ValidateBackendName(b.Name, at)
}

// ValidateBackendName returns what is wrong with the name of a backend.
func ValidateBackendName(name string, at *field.Path) field.ErrorList {
	if backendName.MatchString(name) && !slices.Contains(reservedNames, name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "name must be that of a store: a letter and up to 39 lower case letters, "+
		"digits and dashes, and no section of Glance's own")}
}

// Place returns what of a backend says where its images are. It is comparable.
func (spec *BackendSpec) Place() any {
	s3, file := S3Spec{}, FileSpec{}
	if spec.S3 != nil {
		s3 = *spec.S3
	}
	if spec.File != nil {
		file = *spec.File
	}
	return [...]string{spec.Type, s3.Bucket, file.Claim}
}

// Validate returns everything that is wrong with a place for images.
func (spec *BackendSpec) Validate(at *field.Path) (errs field.ErrorList) {
	require := func(ok bool, value any, says string, path ...string) {
		if !ok {
			errs = append(errs, field.Invalid(at.Child(path[0], path[1:]...), value, says))
		}
	}
	byOptions := spec.Type == BackendSwift || spec.Type == BackendRBD
	require((spec.S3 != nil) == (spec.Type == BackendS3) && (spec.File != nil) == (spec.Type == BackendFile) &&
		(len(spec.Options) > 0) == byOptions && (spec.OptionsSecretRef == nil || byOptions), spec.Type,
		"the type needs its own field and no other: s3, file, or options for swift and rbd", "type")
	if s3 := spec.S3; s3 != nil {
		require(s3Host.MatchString(s3.Host), s3.Host, "it must be a host without a scheme", "s3", "host")
		require(s3Bucket.MatchString(s3.Bucket), s3.Bucket, "it must be the name of a bucket", "s3", "bucket")
		require(s3.CredentialsSecretRef.Name != "", "", "name the Secret", "s3", "credentialsSecretRef", "name")
	}
	require(spec.File == nil || spec.File.Claim != "", "", "name the claim", "file", "claim")
	require(spec.OptionsSecretRef == nil || spec.OptionsSecretRef.Name != "", "", "name the Secret", "optionsSecretRef", "name")
	return errs
}
