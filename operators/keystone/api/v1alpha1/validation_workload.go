package v1alpha1

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func targetCPU(k *Keystone) *int32 {
	if k.Spec.Autoscaling == nil {
		return nil
	}
	return k.Spec.Autoscaling.TargetCPUUtilization
}

func targetMemory(k *Keystone) *int32 {
	if k.Spec.Autoscaling == nil {
		return nil
	}
	return k.Spec.Autoscaling.TargetMemoryUtilization
}

func checkAutoscalingTargets(k *Keystone, at *field.Path) field.ErrorList {
	scaling := k.Spec.Autoscaling
	if scaling == nil || scaling.TargetCPUUtilization != nil || scaling.TargetMemoryUtilization != nil {
		return nil
	}
	return field.ErrorList{field.Required(at, "at least one of targetCPUUtilization or targetMemoryUtilization must be set")}
}

func checkMinReplicas(k *Keystone, at *field.Path) field.ErrorList {
	scaling := k.Spec.Autoscaling
	if scaling == nil || scaling.MinReplicas == nil {
		return nil
	}
	var errs field.ErrorList
	if *scaling.MinReplicas < 1 {
		errs = append(errs, field.Invalid(at, *scaling.MinReplicas, "minReplicas must be at least 1"))
	}
	if *scaling.MinReplicas > scaling.MaxReplicas {
		errs = append(errs, field.Invalid(at, *scaling.MinReplicas, "must not exceed maxReplicas"))
	}
	return errs
}

func checkMaxReplicas(k *Keystone, at *field.Path) field.ErrorList {
	scaling := k.Spec.Autoscaling
	switch {
	case scaling == nil:
		return nil
	case scaling.MaxReplicas < 1:
		return field.ErrorList{field.Invalid(at, scaling.MaxReplicas, "maxReplicas must be at least 1")}
	case scaling.MinReplicas == nil && scaling.MaxReplicas < k.Spec.Replicas:
		return field.ErrorList{field.Invalid(at, scaling.MaxReplicas, "must be at least spec.replicas when minReplicas is not set")}
	}
	return nil
}

func checkIngress(k *Keystone, at *field.Path) field.ErrorList {
	policy := k.Spec.NetworkPolicy
	if policy == nil {
		return nil
	}
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

func uwsgiProcesses(k *Keystone) *int32 {
	if k.Spec.UWSGI == nil {
		return nil
	}
	return &k.Spec.UWSGI.Processes
}

func uwsgiThreads(k *Keystone) *int32 {
	if k.Spec.UWSGI == nil {
		return nil
	}
	return &k.Spec.UWSGI.Threads
}

// checkKeepAliveTimeout refuses a zero because uWSGI reads it as unbounded,
// which would keep a stopping pod from draining.
func checkKeepAliveTimeout(k *Keystone, at *field.Path) field.ErrorList {
	uwsgi := k.Spec.UWSGI
	if uwsgi == nil || uwsgi.HTTPKeepAliveTimeout == nil {
		return nil
	}
	var errs field.ErrorList
	if *uwsgi.HTTPKeepAliveTimeout < 1 {
		errs = append(errs, field.Invalid(at, *uwsgi.HTTPKeepAliveTimeout, "httpKeepAliveTimeout must be at least 1"))
	}
	if uwsgi.HTTPKeepAlive != nil && !*uwsgi.HTTPKeepAlive {
		errs = append(errs, field.Invalid(at, *uwsgi.HTTPKeepAliveTimeout, "httpKeepAliveTimeout requires httpKeepAlive to be true"))
	}
	return errs
}

func checkHarakiri(k *Keystone, at *field.Path) field.ErrorList {
	if k.Spec.UWSGI == nil || k.Spec.UWSGI.Harakiri == nil {
		return nil
	}
	harakiri := *k.Spec.UWSGI.Harakiri
	var errs field.ErrorList
	if harakiri < 1 {
		errs = append(errs, field.Invalid(at, harakiri, "harakiri must be at least 1"))
	}
	if drain := k.Spec.TerminationGracePeriod() - k.Spec.PreStopSleep(); int64(harakiri) >= drain {
		errs = append(errs, field.Invalid(at, harakiri, "harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds"))
	}
	return errs
}

func checkPreStopSleep(k *Keystone, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	sleep := k.Spec.PreStopSleep()
	if sleep < 0 {
		errs = append(errs, field.Invalid(at, sleep, "preStopSleepSeconds must be at least 0"))
	}
	if sleep >= k.Spec.TerminationGracePeriod() {
		errs = append(errs, field.Invalid(at, sleep, "preStopSleepSeconds must be less than terminationGracePeriodSeconds"))
	}
	return errs
}

func checkStrategy(k *Keystone, at *field.Path) field.ErrorList {
	strategy := k.Spec.Strategy
	if strategy == nil {
		return nil
	}
	types := []appsv1.DeploymentStrategyType{"", appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}
	if !slices.Contains(types, strategy.Type) {
		return field.ErrorList{field.NotSupported(at.Child("type"), strategy.Type, types[1:])}
	}
	if strategy.Type == appsv1.RecreateDeploymentStrategyType && strategy.RollingUpdate != nil {
		return field.ErrorList{field.Invalid(at.Child("rollingUpdate"), field.OmitValueType{},
			"rollingUpdate must not be set when type is Recreate")}
	}
	return nil
}

func checkResources(k *Keystone, at *field.Path) field.ErrorList {
	resources := k.Spec.Resources
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

// checkTopologySpread lets a constraint count exactly the API pods: with any
// other selector the scheduler would spread something else than the user means.
func checkTopologySpread(k *Keystone, at *field.Path) field.ErrorList {
	type key struct {
		topologyKey       string
		whenUnsatisfiable corev1.UnsatisfiableConstraintAction
	}
	var errs field.ErrorList
	seen := map[key]bool{}
	for i := range k.Spec.TopologySpreadConstraints {
		constraint := &k.Spec.TopologySpreadConstraints[i]
		errs = append(errs, checkConstraint(k, constraint, at.Index(i))...)
		id := key{constraint.TopologyKey, constraint.WhenUnsatisfiable}
		if seen[id] {
			errs = append(errs, field.Duplicate(at.Index(i), id.topologyKey))
		}
		seen[id] = true
	}
	return errs
}

func checkConstraint(k *Keystone, constraint *corev1.TopologySpreadConstraint, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if constraint.MaxSkew < 1 {
		errs = append(errs, field.Invalid(at.Child("maxSkew"), constraint.MaxSkew, "maxSkew must be at least 1"))
	}
	if constraint.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "name a node label, for example topology.kubernetes.io/zone"))
	}
	actions := []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	if !slices.Contains(actions, constraint.WhenUnsatisfiable) {
		errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), constraint.WhenUnsatisfiable, actions))
	}
	selector, selectorAt := constraint.LabelSelector, at.Child("labelSelector")
	want := SelectorLabels(k.Name)
	if selector == nil {
		return append(errs, field.Required(selectorAt, fmt.Sprintf("set matchLabels to the labels of the API pods, %v", want)))
	}
	if !maps.Equal(selector.MatchLabels, want) {
		errs = append(errs, field.Invalid(selectorAt, selector.MatchLabels,
			fmt.Sprintf("matchLabels must equal the labels of the API pods, %v", want)))
	}
	if len(selector.MatchExpressions) > 0 {
		errs = append(errs, field.Invalid(selectorAt.Child("matchExpressions"), field.OmitValueType{},
			"matchExpressions must not be set: only matchLabels are allowed"))
	}
	return errs
}

func checkPriorityClassName(k *Keystone, at *field.Path) field.ErrorList {
	name := k.Spec.PriorityClassName
	if name == nil || *name == "" {
		return nil
	}
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(*name) {
		errs = append(errs, field.Invalid(at, *name, message))
	}
	return errs
}
