package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func checkAutoscaling(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateAutoscaling(k.Spec.Autoscaling, k.Spec.Replicas, at)
}

func checkNetworkPolicy(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateNetworkPolicy(k.Spec.NetworkPolicy, at)
}

func checkLogging(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateLogging(k.Spec.Logging, at)
}

func checkUWSGI(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateUWSGI(k.Spec.UWSGI, k.Spec.TerminationGracePeriod()-k.Spec.PreStopSleep(), at)
}

func checkStrategy(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateStrategy(k.Spec.Strategy, at)
}

func checkResources(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateResources(k.Spec.Resources, at)
}

func checkTopologySpread(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateTopologySpread(k.Spec.TopologySpreadConstraints, SelectorLabels(k.Name), at)
}

func checkPriorityClassName(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidatePriorityClassName(k.Spec.PriorityClassName, at)
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
