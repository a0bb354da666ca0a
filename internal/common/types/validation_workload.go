package types

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateAutoscaling checks the bounds and targets of an autoscaler. replicas is the
// lower bound if the spec sets none.
func ValidateAutoscaling(scaling *AutoscalingSpec, replicas int32, at *field.Path) field.ErrorList {
	if scaling == nil {
		return nil
	}
	var errs field.ErrorList
	if scaling.TargetCPUUtilization == nil && scaling.TargetMemoryUtilization == nil {
		errs = append(errs, field.Required(at, "at least one of targetCPUUtilization or targetMemoryUtilization must be set"))
	}
	if scaling.MinReplicas != nil {
		errs = append(errs, atLeast(*scaling.MinReplicas, 1, at.Child("minReplicas"))...)
		if *scaling.MinReplicas > scaling.MaxReplicas {
			errs = append(errs, field.Invalid(at.Child("minReplicas"), *scaling.MinReplicas, "must not exceed maxReplicas"))
		}
	}
	switch below := atLeast(scaling.MaxReplicas, 1, at.Child("maxReplicas")); {
	case len(below) > 0:
		errs = append(errs, below...)
	case scaling.MinReplicas == nil && scaling.MaxReplicas < replicas:
		errs = append(errs, field.Invalid(at.Child("maxReplicas"), scaling.MaxReplicas,
			"must be at least spec.replicas when minReplicas is not set"))
	}
	errs = append(errs, percentage(scaling.TargetCPUUtilization, at.Child("targetCPUUtilization"))...)
	return append(errs, percentage(scaling.TargetMemoryUtilization, at.Child("targetMemoryUtilization"))...)
}

func percentage(value *int32, at *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return between(*value, 1, 100, at)
}

// ValidateNetworkPolicy checks which clients may reach the pods of a service.
func ValidateNetworkPolicy(policy *NetworkPolicySpec, at *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	at = at.Child("ingress")
	if len(policy.Ingress) == 0 {
		return field.ErrorList{field.Required(at, "at least one ingress source must be specified")}
	}
	var errs field.ErrorList
	for i, source := range policy.Ingress {
		if source.NamespaceSelector == nil {
			errs = append(errs, field.Required(at.Index(i).Child("namespaceSelector"), "select namespaces by their labels, or all with {}"))
		}
		errs = append(errs, metav1validation.ValidateLabels(source.NamespaceSelector, at.Index(i).Child("namespaceSelector"))...)
		errs = append(errs, metav1validation.ValidateLabels(source.PodSelector, at.Index(i).Child("podSelector"))...)
	}
	return errs
}

// ValidateUWSGI checks the application server. drain is the time, in seconds, in which a
// terminating pod must finish the requests that it has accepted.
func ValidateUWSGI(uwsgi *UWSGISpec, drain int64, at *field.Path) field.ErrorList {
	if uwsgi == nil {
		return nil
	}
	errs := between(uwsgi.Processes, 1, maxUWSGIWorkers, at.Child("processes"))
	errs = append(errs, between(uwsgi.Threads, 1, maxUWSGIWorkers, at.Child("threads"))...)
	if timeout := uwsgi.HTTPKeepAliveTimeout; timeout != nil {
		// uWSGI treats 0 as unlimited, which would keep a terminating pod from draining.
		errs = append(errs, atLeast(*timeout, 1, at.Child("httpKeepAliveTimeout"))...)
		if uwsgi.HTTPKeepAlive != nil && !*uwsgi.HTTPKeepAlive {
			errs = append(errs, field.Invalid(at.Child("httpKeepAliveTimeout"), *timeout,
				"httpKeepAliveTimeout requires httpKeepAlive to be true"))
		}
	}
	if harakiri := uwsgi.Harakiri; harakiri != nil {
		errs = append(errs, atLeast(*harakiri, 1, at.Child("harakiri"))...)
		if int64(*harakiri) >= drain {
			errs = append(errs, field.Invalid(at.Child("harakiri"), *harakiri,
				"harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds"))
		}
	}
	return errs
}

const maxUWSGIWorkers = 256

var (
	logFormats = []LogFormat{LogFormatText, LogFormatJSON}
	logLevels  = []LogLevel{LogLevelDebug, LogLevelInfo, LogLevelWarning, LogLevelError, LogLevelCritical}
)

// ValidateLogging checks the log levels and the log format of a service.
func ValidateLogging(logging *LoggingSpec, at *field.Path) field.ErrorList {
	if logging == nil {
		return nil
	}
	var errs field.ErrorList
	if logging.Format != "" && !slices.Contains(logFormats, logging.Format) {
		errs = append(errs, field.NotSupported(at.Child("format"), logging.Format, logFormats))
	}
	if logging.Level != "" && !slices.Contains(logLevels, logging.Level) {
		errs = append(errs, field.NotSupported(at.Child("level"), logging.Level, logLevels))
	}
	at = at.Child("perLoggerLevels")
	for logger, level := range logging.PerLoggerLevels {
		if !isLoggerName(logger) {
			errs = append(errs, field.Invalid(at.Key(logger), logger,
				"logger name must not be empty or contain ',', '=', white space or control characters, which separate one logger from the next"))
		}
		if !slices.Contains(logLevels, LogLevel(level)) {
			errs = append(errs, field.Invalid(at.Key(logger), level, "level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL"))
		}
	}
	return errs
}

// isLoggerName reports whether a name can be used in oslo.log's default_log_levels, a
// comma-separated list of logger=LEVEL pairs.
func isLoggerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r == ',' || r == '=' || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// ValidateStrategy checks how a Deployment replaces its pods.
func ValidateStrategy(strategy *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	if strategy == nil {
		return nil
	}
	kinds := []appsv1.DeploymentStrategyType{"", appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}
	if !slices.Contains(kinds, strategy.Type) {
		return field.ErrorList{field.NotSupported(at.Child("type"), strategy.Type, kinds[1:])}
	}
	if strategy.Type == appsv1.RecreateDeploymentStrategyType && strategy.RollingUpdate != nil {
		return field.ErrorList{field.Invalid(at.Child("rollingUpdate"), field.OmitValueType{},
			"rollingUpdate must not be set when type is Recreate")}
	}
	return nil
}

// ValidateResources checks that no request exceeds its limit.
func ValidateResources(resources *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	if resources == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request, path := resources.Requests[name], at.Child("requests", string(name))
		if limit, ok := resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path, request.String(), fmt.Sprintf("must not exceed the limit of %s", limit.String())))
		}
	}
	return errs
}

// ValidateTopologySpread checks that each constraint selects exactly the API pods with
// the labels: with any other selector the scheduler would spread other pods.
func ValidateTopologySpread(
	constraints []corev1.TopologySpreadConstraint, labels map[string]string, at *field.Path,
) field.ErrorList {
	type key struct {
		topologyKey       string
		whenUnsatisfiable corev1.UnsatisfiableConstraintAction
	}
	var errs field.ErrorList
	seen := map[key]bool{}
	for i := range constraints {
		constraint := &constraints[i]
		errs = append(errs, validateConstraint(constraint, labels, at.Index(i))...)
		id := key{constraint.TopologyKey, constraint.WhenUnsatisfiable}
		if seen[id] {
			errs = append(errs, field.Duplicate(at.Index(i), id.topologyKey))
		}
		seen[id] = true
	}
	return errs
}

func validateConstraint(constraint *corev1.TopologySpreadConstraint, labels map[string]string, at *field.Path) field.ErrorList {
	errs := atLeast(constraint.MaxSkew, 1, at.Child("maxSkew"))
	if constraint.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "name a node label, for example topology.kubernetes.io/zone"))
	}
	actions := []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	if !slices.Contains(actions, constraint.WhenUnsatisfiable) {
		errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), constraint.WhenUnsatisfiable, actions))
	}
	selector, at := constraint.LabelSelector, at.Child("labelSelector")
	if selector == nil {
		return append(errs, field.Required(at, fmt.Sprintf("set matchLabels to the labels of the API pods, %v", labels)))
	}
	if !maps.Equal(selector.MatchLabels, labels) {
		errs = append(errs, field.Invalid(at, selector.MatchLabels,
			fmt.Sprintf("matchLabels must equal the labels of the API pods, %v", labels)))
	}
	if len(selector.MatchExpressions) > 0 {
		errs = append(errs, field.Invalid(at.Child("matchExpressions"), field.OmitValueType{},
			"matchExpressions must not be set: only matchLabels are allowed"))
	}
	return errs
}

// ValidatePriorityClassName checks the name of a PriorityClass; nil is valid.
func ValidatePriorityClassName(name *string, at *field.Path) field.ErrorList {
	if name == nil || *name == "" {
		return nil
	}
	return validateObjectName(*name, at, "")
}

func atLeast(value, minimum int32, at *field.Path) field.ErrorList {
	if value < minimum {
		return field.ErrorList{field.Invalid(at, value, fmt.Sprintf("%s must be at least %d", lastSegment(at), minimum))}
	}
	return nil
}

func between(value, minimum, maximum int32, at *field.Path) field.ErrorList {
	if value > maximum {
		return field.ErrorList{field.Invalid(at, value, fmt.Sprintf("%s must be at most %d", lastSegment(at), maximum))}
	}
	return atLeast(value, minimum, at)
}
