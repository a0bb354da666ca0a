package v1alpha1

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table repeats what the schema states as markers and CEL, in the same words,
// and adds what a schema cannot state. Rules that need other objects are in
// the webhook instead.
var table = slices.Concat(ownRules, backupRules,
	serviceRules("keystone", keystoneOf), apiRules("keystone", keystoneOf, keystoneAPI), furtherRules())

func furtherRules() rules.Table[*ControlPlane] {
	var all rules.Table[*ControlPlane]
	for _, s := range furtherServices {
		all = append(all, s.rules()...)
	}
	return all
}

var ownRules = rules.Table[*ControlPlane]{
	{Path: "metadata.name", Check: checkName},

	{Path: "spec.openStackRelease", Check: checkRelease},
	{Path: "spec.region", Check: checkRegion},
	{Path: "spec.deletionPolicy", Check: checkDeletionPolicy},
	{Path: "spec.infrastructure.database", Check: checkDatabase},
	{Path: "spec.infrastructure.database.replicas", Check: rules.AtLeast(1, databaseReplicas)},
	{Path: "spec.infrastructure.database.replicas", Check: checkOddReplicas},
	{Path: "spec.infrastructure.database.storageSize", Check: checkStorageSize},
	{Path: "spec.infrastructure.database.storageClassName", Check: checkStorageClass},
	{Path: "spec.infrastructure.database.image", Check: checkServerImage(func(cp *ControlPlane) string {
		return cp.Spec.Infrastructure.Database.Image
	})},
	{Path: "spec.infrastructure.database.imagePullSecrets", Check: checkServerPullSecrets},
	{Path: "spec.infrastructure.cache", Check: checkCache},
	{Path: "spec.infrastructure.cache.image", Check: checkServerImage(func(cp *ControlPlane) string {
		return cp.Spec.Infrastructure.Cache.Image
	})},

	{Path: "spec.services.keystone.rotationInterval", Check: checkRotationInterval},
	{Path: "spec.services.keystone.proxyImage", Check: checkProxyImage},
	{Path: identityBackends.path, Check: identityBackends.validate},
	{Path: identityBackends.path, Check: checkDomains},
	{Path: "spec.services.horizon.secretKeyRef", Check: checkHorizonSecretKey},
	{Path: backends.path, Check: backends.validate},
	{Path: secretStores.path, Check: secretStores.validate},
	{Path: "spec.global", Check: checkGlobalPolicy},
	{Path: "spec.global.extraConfig", Check: checkGlobalOptions},

	{Path: "spec.serviceUsers.authentication", Check: checkAuthentication},
	{Path: "spec.serviceUsers.credentialDays", Check: rules.Between(1, maxCredentialDays, func(cp *ControlPlane) *int32 {
		return &cp.Spec.ServiceUsers.CredentialDays
	})},

	{Path: "spec.korc.adminCredential.cloudCredentialsRef.cloudName", Check: checkCloudName},
	{Path: "spec.korc.adminCredential.cloudCredentialsRef.secretName", Check: checkCloudsSecret},
	{Path: "spec.korc.adminCredential.passwordSecretRef", Check: checkPasswordSecretRef},
	{Path: "spec.korc.adminCredential.applicationCredential.accessRules", Check: checkAccessRules},
	{Path: "spec.korc.adminCredential.applicationCredential.rotation.mode", Check: checkRotationMode},
	{Path: "spec.korc.adminCredential.bootstrapResources", Check: checkBootstrapResources},
}

// Validate returns everything that is wrong with a ControlPlane on its own,
// that is, without looking at other objects. It expects an object that
// SetDefaults has been applied to.
func Validate(cp *ControlPlane) field.ErrorList {
	return table.Validate(cp)
}

// The Keystone's name is the control plane's and a suffix of nine characters,
// and may have 34 at most.
const maxNameLength = 25

// checkName ignores an empty name, because the API server may still generate one.
func checkName(cp *ControlPlane, at *field.Path) field.ErrorList {
	if cp.Name == "" || cp.Spec.Services.Keystone == nil {
		return nil
	}
	errs := commonv1.ValidateServiceName(cp.Name, "a Service is named after it", at)
	if len(cp.Name) > maxNameLength {
		errs = append(errs, field.Invalid(at, cp.Name,
			fmt.Sprintf("name must be no longer than %d characters: the Keystone is named after it", maxNameLength)))
	}
	return errs
}

// releasePattern has parts of a fixed width, so that the order of two releases
// is that of their texts.
var releasePattern = regexp.MustCompile(`^\d{4}\.\d$`)

func checkRelease(cp *ControlPlane, at *field.Path) field.ErrorList {
	if releasePattern.MatchString(cp.Spec.OpenStackRelease) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, cp.Spec.OpenStackRelease, "must be an OpenStack release, for example 2025.1")}
}

// Limits of the length of names, those of Keystone's own tables.
const (
	maxRegionLength    = 255
	maxResourceLength  = 255
	maxCloudNameLength = 256
)

func checkRegion(cp *ControlPlane, at *field.Path) field.ErrorList {
	return tooLong(cp.Spec.Region, maxRegionLength, at)
}

func tooLong(value string, limit int, at *field.Path) field.ErrorList {
	if len([]rune(value)) <= limit {
		return nil
	}
	return field.ErrorList{field.TooLongMaxLength(at, value, limit)}
}

func checkDatabase(cp *ControlPlane, at *field.Path) field.ErrorList {
	return commonv1.ValidateDatabase(cp.Spec.Infrastructure.Database.DatabaseSpec, "keystone", at)
}

func databaseReplicas(cp *ControlPlane) *int32 { return cp.Spec.Infrastructure.Database.Replicas }

// checkOddReplicas refuses what mariadb-operator does: an even number of servers
// can split into halves of which neither is a majority.
func checkOddReplicas(cp *ControlPlane, at *field.Path) field.ErrorList {
	db := cp.Spec.Infrastructure.Database
	if replicas := db.ReplicasOrDefault(); db.IsManaged() && replicas > 0 && isEven(replicas) {
		return field.ErrorList{field.Invalid(at, replicas,
			"replicas must be an odd number, for example 3: mariadb-operator refuses an even one")}
	}
	return nil
}

func isEven(n int32) bool { return n%2 == 0 }

func checkStorageSize(cp *ControlPlane, at *field.Path) field.ErrorList {
	size, err := cp.Spec.Infrastructure.Database.StorageSizeOrDefault()
	if err == nil && size.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, cp.Spec.Infrastructure.Database.StorageSize,
		"storageSize must be a positive quantity such as 100Gi")}
}

func checkStorageClass(cp *ControlPlane, at *field.Path) field.ErrorList {
	name := cp.Spec.Infrastructure.Database.StorageClassName
	if name == "" || len(validation.IsDNS1123Subdomain(name)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "must be the name of a StorageClass")}
}

// serverImage matches the image of database or cache servers, whose operators parse it.
var serverImage = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]*$`)

const maxImageLength = 512

func checkServerImage(of func(*ControlPlane) string) func(*ControlPlane, *field.Path) field.ErrorList {
	return func(cp *ControlPlane, at *field.Path) field.ErrorList {
		switch image := of(cp); {
		case image != "" && !serverImage.MatchString(image):
			return field.ErrorList{field.Invalid(at, image, "must be an image with its tag, for example registry.example.com/mariadb:11.8")}
		default:
			return tooLong(image, maxImageLength, at)
		}
	}
}

func checkServerPullSecrets(cp *ControlPlane, at *field.Path) field.ErrorList {
	return commonv1.ValidateImagePullSecrets(cp.Spec.Infrastructure.Database.ImagePullSecrets, at)
}

func checkCache(cp *ControlPlane, at *field.Path) field.ErrorList {
	return commonv1.ValidateCache(cp.Spec.Infrastructure.Cache.CacheSpec, at)
}

func checkGlobalPolicy(cp *ControlPlane, at *field.Path) field.ErrorList {
	global := cp.Spec.Global
	switch {
	case global == nil:
		return nil
	case len(global.Rules) > 0 || global.ConfigMapRef != nil:
		return commonv1.ValidatePolicy(&global.PolicySpec, at)
	case len(global.ExtraConfig) == 0:
		return field.ErrorList{field.Required(at, "at least one of extraConfig, rules or configMapRef must be set")}
	}
	return nil
}

func checkCloudName(cp *ControlPlane, at *field.Path) field.ErrorList {
	return tooLong(cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName, maxCloudNameLength, at)
}

// checkCloudsSecret refuses a Secret that something else writes: the two
// would overwrite each other for ever.
func checkCloudsSecret(cp *ControlPlane, at *field.Path) field.ErrorList {
	name := cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	others := []string{
		cp.Spec.Infrastructure.Database.SecretRef.Name, cp.Spec.KORC.AdminCredential.PasswordSecretRef.Name,
		cp.DatabaseSecretName(), cp.AdminSecretName(), cp.ApplicationCredentialName(), cp.PasswordCloudSecretName(),
	}
	if slices.Contains(others, name) || slices.ContainsFunc(furtherServices, func(s furtherService) bool { return s.has(cp, name) }) {
		errs = append(errs, field.Invalid(at, name, "secretName must not be the name of another Secret of the control plane"))
	}
	return errs
}

func checkPasswordSecretRef(cp *ControlPlane, at *field.Path) field.ErrorList {
	return commonv1.ValidateSecretRef(cp.Spec.KORC.AdminCredential.PasswordSecretRef, at)
}

var (
	httpMethods     = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
	rotationModes   = []RotationMode{RotationPasswordDriven, RotationScheduled, RotationManual}
	authentications = []ServiceUserAuthentication{AuthenticationPassword, AuthenticationApplicationCredential}
	bootstrapKinds  = []string{BootstrapKindProject, BootstrapKindRole}
)

func checkAccessRules(cp *ControlPlane, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules {
		entry := at.Index(i)
		if rule.Path != "" && !strings.HasPrefix(rule.Path, "/") {
			errs = append(errs, field.Invalid(entry.Child("path"), rule.Path, "must begin with /"))
		}
		if rule.Method != "" && !slices.Contains(httpMethods, rule.Method) {
			errs = append(errs, field.NotSupported(entry.Child("method"), rule.Method, httpMethods))
		}
		if rule.Service == "" {
			errs = append(errs, field.Required(entry.Child("service"), "name the K-ORC Service the requests go to"))
			continue
		}
		for _, message := range validation.IsDNS1123Subdomain(rule.Service) {
			errs = append(errs, field.Invalid(entry.Child("service"), rule.Service, message))
		}
	}
	return errs
}

func checkDeletionPolicy(cp *ControlPlane, at *field.Path) field.ErrorList {
	return commonv1.CheckDeletionPolicy(cp.Spec.DeletionPolicy, at)
}

const maxCredentialDays = 3650

func checkAuthentication(cp *ControlPlane, at *field.Path) field.ErrorList {
	if authentication := cp.Spec.ServiceUsers.Authentication; !slices.Contains(authentications, authentication) {
		return field.ErrorList{field.NotSupported(at, authentication, authentications)}
	}
	return nil
}

func checkRotationMode(cp *ControlPlane, at *field.Path) field.ErrorList {
	mode := cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	if slices.Contains(rotationModes, mode) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, mode, rotationModes)}
}

func checkBootstrapResources(cp *ControlPlane, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[BootstrapResourceSpec]bool{}
	for i, resource := range cp.Spec.KORC.AdminCredential.BootstrapResources {
		entry := at.Index(i)
		if seen[resource] {
			errs = append(errs, field.Duplicate(entry, resource.Kind+" "+resource.Name))
		}
		seen[resource] = true
		if !slices.Contains(bootstrapKinds, resource.Kind) {
			errs = append(errs, field.NotSupported(entry.Child("kind"), resource.Kind, bootstrapKinds))
		}
		if resource.Name == "" {
			errs = append(errs, field.Required(entry.Child("name"), "name the resource"))
		}
		errs = append(errs, tooLong(resource.Name, maxResourceLength, entry.Child("name"))...)
	}
	return errs
}
