package types

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// PodRules returns the rules of the settings of pods below the path. get returns those of a
// resource, nil if it has none. The files of the service are in a directory of its name.
func PodRules[T any](path, service string, get func(T) *PodSettings) rules.Table[T] {
	of := func(check func(*PodSettings, *field.Path) field.ErrorList) rules.Check[T] {
		return func(resource T, at *field.Path) field.ErrorList {
			if settings := get(resource); settings != nil {
				return check(settings, at)
			}
			return nil
		}
	}
	return rules.Table[T]{
		{Path: path + ".nodeSelector", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return metav1validation.ValidateLabels(s.NodeSelector, at)
		})},
		{Path: path + ".tolerations", Check: of(validateTolerations)},
		{Path: path + ".runtimeClassName", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			if s.RuntimeClassName == nil {
				return nil
			}
			return validateObjectName(*s.RuntimeClassName, at, "name the RuntimeClass")
		})},
		{Path: path + ".hostAliases", Check: of(validateHostAliases)},
		{Path: path + ".podLabels", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return append(metav1validation.ValidateLabels(s.PodLabels, at), refusePodLabels(s.PodLabels, at)...)
		})},
		{Path: path + ".podAnnotations", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return validateAnnotations(s.PodAnnotations, at)
		})},
		{Path: path + ".serviceAnnotations", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return validateAnnotations(s.ServiceAnnotations, at)
		})},
		{Path: path + ".serviceAccountAnnotations", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return validateAnnotations(s.ServiceAccountAnnotations, at)
		})},
		{Path: path + ".extraEnv", Check: of(validateExtraEnv)},
		{Path: path + ".extraVolumes", Check: of(func(s *PodSettings, at *field.Path) field.ErrorList {
			return validateExtraVolumes(s.ExtraVolumes, service, at)
		})},
	}
}

// The domains of the labels and annotations that the operators set.
const (
	labelDomain = "app.kubernetes.io"
	ownDomain   = "c5c3.io"
)

func validateAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	return append(apivalidation.ValidateAnnotations(annotations, at), refuseKeys(annotations, at, ownDomain)...)
}

// podIdentity are labels by which the controllers of Kubernetes find their pods. The API
// server refuses a Job whose template has them
// (https://kubernetes.io/docs/reference/labels-annotations-taints/#controller-uid).
var podIdentity = []string{"pod-template-hash", "job-name", "controller-uid"}

func refusePodLabels(labels map[string]string, at *field.Path) field.ErrorList {
	errs := refuseKeys(labels, at, labelDomain, ownDomain, "batch.kubernetes.io")
	for _, key := range podIdentity {
		if _, set := labels[key]; set {
			errs = append(errs, field.Forbidden(at.Key(key), "Kubernetes sets it itself"))
		}
	}
	return errs
}

// refuseKeys refuses labels or annotations of the domains and of domains below them.
func refuseKeys(values map[string]string, at *field.Path, domains ...string) field.ErrorList {
	var errs field.ErrorList
	for key := range values {
		prefix, _, found := strings.Cut(key, "/")
		for _, domain := range domains {
			if found && (prefix == domain || strings.HasSuffix(prefix, "."+domain)) {
				errs = append(errs, field.Forbidden(at.Key(key), "those of "+domain+" are set by the operator or by Kubernetes"))
			}
		}
	}
	return errs
}

// validateTolerations follows the rules of the API server
// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/).
func validateTolerations(s *PodSettings, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	operators := []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	for i, toleration := range s.Tolerations {
		at := at.Index(i)
		exists := toleration.Operator == corev1.TolerationOpExists
		switch {
		case toleration.Operator != "" && !slices.Contains(operators, toleration.Operator):
			errs = append(errs, field.NotSupported(at.Child("operator"), toleration.Operator, operators))
		case exists && toleration.Value != "":
			errs = append(errs, field.Invalid(at.Child("value"), toleration.Value, "value must be empty when operator is Exists"))
		case !exists && toleration.Key == "":
			errs = append(errs, field.Invalid(at.Child("operator"), toleration.Operator, "operator must be Exists when key is empty"))
		}
		if toleration.Effect != "" && !slices.Contains(effects, toleration.Effect) {
			errs = append(errs, field.NotSupported(at.Child("effect"), toleration.Effect, effects))
		}
		if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), toleration.Effect, "effect must be NoExecute when tolerationSeconds is set"))
		}
		if toleration.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(toleration.Key, at.Child("key"))...)
		}
	}
	return errs
}

func validateHostAliases(s *PodSettings, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, alias := range s.HostAliases {
		at := at.Index(i)
		if _, err := netip.ParseAddr(alias.IP); err != nil {
			errs = append(errs, field.Invalid(at.Child("ip"), alias.IP, "must be an IP address"))
		}
		if seen[alias.IP] {
			errs = append(errs, field.Duplicate(at, alias.IP))
		}
		seen[alias.IP] = true
		for j, name := range alias.Hostnames {
			for _, message := range validation.IsDNS1123Subdomain(name) {
				errs = append(errs, field.Invalid(at.Child("hostnames").Index(j), name, message))
			}
		}
	}
	return errs
}

// The environment variables that the operators set: uWSGI takes its options from them,
// oslo.config, the tools of the services and the scripts of rotations theirs.
var (
	ownPrefixes  = []string{"OS_", "UWSGI_"}
	ownVariables = []string{"PYTHONPATH", "SECRET_NAME", "SECRET_NAMESPACE", "PASSWORD_LENGTH"}
)

func isOwnVariable(name string) bool {
	return slices.Contains(ownVariables, name) ||
		slices.ContainsFunc(ownPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func validateExtraEnv(s *PodSettings, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, variable := range s.ExtraEnv {
		at := at.Index(i)
		for _, message := range validation.IsEnvVarName(variable.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), variable.Name, message))
		}
		switch {
		case seen[variable.Name]:
			errs = append(errs, field.Duplicate(at, variable.Name))
		case isOwnVariable(variable.Name):
			errs = append(errs, field.Forbidden(at.Child("name"),
				"the operator sets "+variable.Name+" or its like itself: use extraConfig for options of the service, uwsgi for those of uWSGI"))
		}
		seen[variable.Name] = true
		errs = append(errs, validateVariableSource(variable, at.Child("valueFrom"))...)
	}
	return errs
}

// validateVariableSource accepts what a volume of extraVolumes can be as well, and fields of
// the pod. The API server checks the paths of those.
func validateVariableSource(variable corev1.EnvVar, at *field.Path) field.ErrorList {
	source := variable.ValueFrom
	if source == nil {
		return nil
	}
	if variable.Value != "" {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "set value or valueFrom, not both")}
	}
	var errs field.ErrorList
	sources := 0
	for _, set := range []bool{source.FieldRef != nil, source.ResourceFieldRef != nil} {
		if set {
			sources++
		}
	}
	key := func(name, key, child string) {
		sources++
		at := at.Child(child)
		errs = append(errs, validateObjectName(name, at.Child("name"), "name the object with the value")...)
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(at.Child("key"), key, message))
		}
	}
	if ref := source.SecretKeyRef; ref != nil {
		key(ref.Name, ref.Key, "secretKeyRef")
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		key(ref.Name, ref.Key, "configMapKeyRef")
	}
	if sources != 1 {
		errs = append(errs, field.Invalid(at, field.OmitValueType{},
			"exactly one of secretKeyRef, configMapKeyRef, fieldRef or resourceFieldRef must be set"))
	}
	return errs
}

// ownDirectories are those that the containers of a service have from the operator or from
// the system.
func ownDirectories(service string) []string {
	return []string{
		"/etc/" + service, "/scripts", "/fernet-keys-src", "/credential-keys-src", "/etc/openstack-dashboard", "/var/lib/openstack-dashboard",
		"/var/lib/glance",
		"/dev", "/proc", "/sys", "/run/secrets", "/var/run/secrets",
	}
}

func validateExtraVolumes(volumes []ExtraVolume, service string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, taken := map[string]bool{}, ownDirectories(service)
	for i, volume := range volumes {
		at := at.Index(i)
		if names[volume.Name] {
			errs = append(errs, field.Duplicate(at, volume.Name))
		}
		names[volume.Name] = true
		for _, message := range validation.IsDNS1123Label(volume.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), volume.Name, message))
		}
		errs = append(errs, validateMountPath(volume.MountPath, taken, at.Child("mountPath"))...)
		taken = append(taken, volume.MountPath)
		errs = append(errs, validateVolumeSource(volume, at)...)
	}
	return errs
}

// validateMountPath refuses a directory that is, holds or lies in one of those that are taken.
func validateMountPath(path string, taken []string, at *field.Path) field.ErrorList {
	parts := strings.Split(path, "/")
	if len(parts) < 2 || parts[0] != "" || slices.ContainsFunc(parts[1:], func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.Contains(part, ":")
	}) {
		return field.ErrorList{field.Invalid(at, path, "must be an absolute path without ':', '.' and '..', such as /extra")}
	}
	for _, other := range taken {
		if within(path, other) || within(other, path) {
			return field.ErrorList{field.Invalid(at, path, "must not be, hold or lie in a directory that is in use: "+other)}
		}
	}
	return nil
}

func within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

func validateVolumeSource(volume ExtraVolume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	for name, files := range map[string]*VolumeFiles{"configMap": volume.ConfigMap, "secret": volume.Secret} {
		if files == nil {
			continue
		}
		sources++
		errs = append(errs, validateObjectName(files.Name, at.Child(name, "name"), "name the object with the files")...)
		seen := map[string]bool{}
		for i, item := range files.Items {
			at := at.Child(name, "items").Index(i)
			if seen[item.Key] {
				errs = append(errs, field.Duplicate(at, item.Key))
			}
			seen[item.Key] = true
			for _, message := range validation.IsConfigMapKey(item.Key) {
				errs = append(errs, field.Invalid(at.Child("key"), item.Key, message))
			}
			if item.Path == "" || strings.HasPrefix(item.Path, "/") || slices.Contains(strings.Split(item.Path, "/"), "..") {
				errs = append(errs, field.Invalid(at.Child("path"), item.Path, "must be a path below mountPath, without '..'"))
			}
		}
	}
	if claim := volume.PersistentVolumeClaim; claim != nil {
		sources++
		errs = append(errs, validateObjectName(claim.Name, at.Child("persistentVolumeClaim", "name"), "name the claim")...)
	}
	if sources != 1 {
		errs = append(errs, field.Invalid(at, field.OmitValueType{},
			"exactly one of configMap, secret or persistentVolumeClaim must be set"))
	}
	return errs
}
