package types

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules below repeat the schema's markers and CEL rules with the same messages: an
// object may have been stored under an older schema, and composed objects are checked
// before an API server sees them.

// The grammar of an image name and tag is that of the OCI distribution specification,
// https://github.com/distribution/reference/blob/main/reference.go.
var (
	imageRepository = regexp.MustCompile(`^(` + registryHost + `(:[0-9]+)?/)?` + pathComponent + `(/` + pathComponent + `)*$`)
	imageTag        = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	databaseHost    = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)
	databaseName    = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)
	cacheBackend    = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	cacheServer     = regexp.MustCompile(`^[^\s,]+$`)
	serviceName     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	gatewayHostname = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

const (
	hostLabel     = `[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?`
	registryHost  = `(` + hostLabel + `(\.` + hostLabel + `)*|\[[a-fA-F0-9:]+\])`
	pathComponent = `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`

	maxHostnameLength  = 253
	maxImageNameLength = 255
)

// ValidateServiceName checks a name that becomes the name of a Service, or its prefix: it
// must be a DNS label according to RFC 1035. The error ends with the given reason.
func ValidateServiceName(name, because string, at *field.Path) field.ErrorList {
	if serviceName.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name,
		"name must start with a letter and consist of lower case letters, digits and dashes: "+because)}
}

// ValidateImage checks the form of the image of a service. The name of the service, such
// as "placement", is part of the examples in errors.
func ValidateImage(image ImageSpec, service string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch repository := image.Repository; {
	case repository == "":
		errs = append(errs, field.Required(at.Child("repository"), "name the image, for example ghcr.io/c5c3/"+service))
	case len(repository) > maxImageNameLength || !imageRepository.MatchString(repository):
		errs = append(errs, field.Invalid(at.Child("repository"), repository,
			"must be an image name without a tag, for example ghcr.io/c5c3/"+service))
	}
	switch tag := image.Tag; {
	case tag == "":
		errs = append(errs, field.Required(at.Child("tag"), "set the image's version, for example 2025.1"))
	case !imageTag.MatchString(tag):
		errs = append(errs, field.Invalid(at.Child("tag"), tag,
			"must be at most 128 letters, digits, '_', '.' and '-' and not begin with '.' or '-'"))
	}
	if image.Digest != "" && !IsDigest(image.Digest) {
		errs = append(errs, field.Invalid(at.Child("digest"), image.Digest, "must be sha256: and 64 hexadecimal digits in lower case"))
	}
	return errs
}

// ValidateImagePullSecrets checks references to image pull Secrets.
func ValidateImagePullSecrets(refs []corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, ref := range refs {
		if seen[ref.Name] {
			errs = append(errs, field.Duplicate(at.Index(i), ref.Name))
		}
		seen[ref.Name] = true
		errs = append(errs, validateObjectName(ref.Name, at.Index(i).Child("name"), "name the Secret with which the image is pulled")...)
	}
	return errs
}

// ValidateSecretRef checks a reference to a key of a Secret.
func ValidateSecretRef(ref SecretRefSpec, at *field.Path) field.ErrorList {
	errs := validateObjectName(ref.Name, at.Child("name"), "name the Secret")
	if ref.Key == "" {
		return errs
	}
	for _, message := range validation.IsConfigMapKey(ref.Key) {
		errs = append(errs, field.Invalid(at.Child("key"), ref.Key, message))
	}
	return errs
}

// ValidateDatabase checks a database of a service and its connection. The name of the
// service is part of the examples in errors.
func ValidateDatabase(db DatabaseSpec, service string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if db.IsManaged() == (db.Host != "") {
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "exactly one of clusterRef or host must be set"))
	}
	errs = append(errs, validateClusterRef(db.ClusterRef, at.Child("clusterRef", "name"))...)
	if db.Host != "" && !isDatabaseHost(db.Host) {
		errs = append(errs, field.Invalid(at.Child("host"), db.Host, "must be a host name or an IP address, without brackets or a port"))
	}
	if db.Port < 0 || db.Port > 65535 {
		errs = append(errs, field.Invalid(at.Child("port"), db.Port, validation.InclusiveRangeError(1, 65535)))
	}
	switch {
	case db.Database == "":
		errs = append(errs, field.Required(at.Child("database"), "name the database, for example "+service))
	case !databaseName.MatchString(db.Database):
		errs = append(errs, field.Invalid(at.Child("database"), db.Database, "must be 1 to 64 letters, digits and '_'"))
	}
	errs = append(errs, ValidateSecretRef(db.SecretRef, at.Child("secretRef"))...)
	return append(errs, validateDatabaseTLS(db.TLS, at.Child("tls"))...)
}

func isDatabaseHost(host string) bool {
	if len(host) <= maxHostnameLength && databaseHost.MatchString(host) {
		return true
	}
	// An IPv6 zone names an interface of one machine, not of the pod.
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6() && ip.Zone() == ""
}

func validateDatabaseTLS(tls *DatabaseTLSSpec, at *field.Path) field.ErrorList {
	if tls == nil {
		return nil
	}
	var errs field.ErrorList
	modes := []DatabaseTLSMode{DatabaseTLSPrefer, DatabaseTLSRequire, DatabaseTLSVerifyCA, DatabaseTLSVerifyFull}
	if tls.Mode != "" && !slices.Contains(modes, tls.Mode) {
		errs = append(errs, field.NotSupported(at.Child("mode"), tls.Mode, modes))
	}
	errs = append(errs, validateTLSRef(tls.Enabled, tls.CABundleSecretRef, at.Child("caBundleSecretRef"))...)
	return append(errs, validateTLSRef(tls.Enabled, tls.ClientCertSecretRef, at.Child("clientCertSecretRef"))...)
}

func validateTLSRef(required bool, ref *SecretRefSpec, at *field.Path) field.ErrorList {
	switch {
	case ref != nil:
		return ValidateSecretRef(*ref, at)
	case required:
		return field.ErrorList{field.Required(at, lastSegment(at)+" is required when tls is enabled")}
	}
	return nil
}

// ValidateCache checks a cache and its connection.
func ValidateCache(cache CacheSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if cache.IsManaged() == (len(cache.Servers) > 0) {
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "exactly one of clusterRef or servers must be set"))
	}
	errs = append(errs, validateClusterRef(cache.ClusterRef, at.Child("clusterRef", "name"))...)
	if cache.Backend != "" && !cacheBackend.MatchString(cache.Backend) {
		errs = append(errs, field.Invalid(at.Child("backend"), cache.Backend, "must be the name of a dogpile.cache backend"))
	}
	for i, server := range cache.Servers {
		if !cacheServer.MatchString(server) {
			errs = append(errs, field.Invalid(at.Child("servers").Index(i), server, "must be host or host:port without white space or commas"))
		}
	}
	if cache.Replicas < 0 {
		errs = append(errs, field.Invalid(at.Child("replicas"), cache.Replicas, "replicas must be at least 1"))
	}
	return errs
}

// ValidatePolicy checks policy overrides: there must be at least one, each rule needs a
// name and a definition, and the ConfigMap a valid name.
func ValidatePolicy(policy *PolicySpec, at *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	var errs field.ErrorList
	if len(policy.Rules) == 0 && policy.ConfigMapRef == nil {
		errs = append(errs, field.Required(at, "at least one of rules or configMapRef must be set"))
	}
	for name, rule := range policy.Rules {
		if name == "" {
			errs = append(errs, field.Invalid(at.Child("rules"), name, "policy rule name must not be empty"))
		}
		if rule == "" {
			errs = append(errs, field.Invalid(at.Child("rules").Key(name), rule, "policy rule value must not be empty"))
		}
	}
	if policy.ConfigMapRef != nil {
		errs = append(errs, validateObjectName(policy.ConfigMapRef.Name, at.Child("configMapRef", "name"), "name the ConfigMap")...)
	}
	return errs
}

// ValidateGateway checks how the API of a service is exposed through a Gateway. The name of
// the service is part of the examples in errors.
func ValidateGateway(gateway *GatewaySpec, service string, at *field.Path) field.ErrorList {
	if gateway == nil {
		return nil
	}
	var errs field.ErrorList
	switch hostname := gateway.Hostname; {
	case hostname == "":
		errs = append(errs, field.Required(at.Child("hostname"),
			fmt.Sprintf("name the host clients use, for example %s.example.com", service)))
	case len(hostname) > maxHostnameLength || !gatewayHostname.MatchString(hostname):
		errs = append(errs, field.Invalid(at.Child("hostname"), hostname, "must be a lower case host name without a wildcard or port"))
	}
	parent, parentAt := gateway.ParentRef, at.Child("parentRef")
	errs = append(errs, validateObjectName(parent.Name, parentAt.Child("name"), "name the Gateway")...)
	if parent.Namespace != "" {
		for _, message := range validation.IsDNS1123Label(parent.Namespace) {
			errs = append(errs, field.Invalid(parentAt.Child("namespace"), parent.Namespace, message))
		}
	}
	if parent.SectionName != "" {
		errs = append(errs, validateObjectName(parent.SectionName, parentAt.Child("sectionName"), "")...)
	}
	return append(errs, apivalidation.ValidateAnnotations(gateway.Annotations, at.Child("annotations"))...)
}

// ValidatePublicEndpoint checks the URL for clients outside the cluster. If the service
// is exposed through a Gateway, it must be an https URL with the Gateway's host; the port
// may differ.
func ValidatePublicEndpoint(endpoint string, gateway *GatewaySpec, at *field.Path) field.ErrorList {
	if endpoint == "" {
		return nil
	}
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return field.ErrorList{field.Invalid(at, endpoint, "must be a URL that begins with http:// or https://")}
	}
	if gateway != nil && (parsed.Scheme != "https" || parsed.Hostname() != gateway.Hostname) {
		return field.ErrorList{field.Invalid(at, endpoint, "publicEndpoint must be an https URL with the host of gateway.hostname")}
	}
	return nil
}

func validateClusterRef(ref *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return validateObjectName(ref.Name, at, "clusterRef.name must not be empty")
}

// validateObjectName checks a reference to another object by its name; hint is the
// message for an empty name.
func validateObjectName(name string, at *field.Path, hint string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, hint)}
	}
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	return errs
}

func lastSegment(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndex(path, ".")+1:]
}
