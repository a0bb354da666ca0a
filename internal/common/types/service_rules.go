package types

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// SetDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func (s *ServiceSpec) SetDefaults() {
	SetIfZero(&s.Replicas, DefaultReplicas)
	s.Cache.SetDefaults()
	s.UWSGI.SetDefaults()
	SetLoggingDefaults(&s.Logging)
	SetResourcesDefaults(&s.Resources)
}

// Describer is a resource that describes an instance of an API service.
//
// +kubebuilder:object:generate=false
type Describer interface {
	GetName() string
	// ServiceSpec returns the spec of the instance, a part of the resource.
	ServiceSpec() *ServiceSpec
}

// ServiceRules returns the rules of every API service. [DataRules], [OptionsRules] and
// [ServiceUserRules] are those of services that have more. The name of the service is part of
// the examples in errors; selector returns the labels of an instance's API pods.
func ServiceRules[T Describer](service string, selector func(name string) map[string]string) rules.Table[T] {
	spec := func(check func(*ServiceSpec, *field.Path) field.ErrorList) rules.Check[T] {
		return func(resource T, at *field.Path) field.ErrorList { return check(resource.ServiceSpec(), at) }
	}
	return append(PodRules("spec", service, func(r T) *PodSettings { return &r.ServiceSpec().PodSettings }), rules.Table[T]{
		{Path: "spec.replicas", Check: rules.AtLeast(1, func(r T) *int32 { return &r.ServiceSpec().Replicas })},
		{Path: "spec.image", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList { return ValidateImage(s.Image, service, at) })},
		{Path: "spec.imagePullSecrets", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidateImagePullSecrets(s.ImagePullSecrets, at)
		})},
		{Path: "spec.cache", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList { return ValidateCache(s.Cache, at) })},
		{Path: "spec.logging", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList { return ValidateLogging(s.Logging, at) })},
		{Path: "spec.autoscaling", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidateAutoscaling(s.Autoscaling, s.Replicas, at)
		})},
		{Path: "spec.networkPolicy", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidateNetworkPolicy(s.NetworkPolicy, at)
		})},
		{Path: "spec.gateway", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidateGateway(s.Gateway, service, at)
		})},
		{Path: "spec.uwsgi", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidateUWSGI(s.UWSGI, s.TerminationGracePeriod()-s.PreStopSleep(), at)
		})},
		{
			Path:  "spec.terminationGracePeriodSeconds",
			Check: rules.AtLeast(10, func(r T) *int64 { return r.ServiceSpec().TerminationGracePeriodSeconds }),
		},
		{Path: "spec.preStopSleepSeconds", Check: spec(validatePreStopSleep)},
		{Path: "spec.strategy", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList { return ValidateStrategy(s.Strategy, at) })},
		{Path: "spec.resources", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList { return ValidateResources(s.Resources, at) })},
		{Path: "spec.topologySpreadConstraints", Check: func(r T, at *field.Path) field.ErrorList {
			return ValidateTopologySpread(r.ServiceSpec().TopologySpreadConstraints, selector(r.GetName()), at)
		}},
		{Path: "spec.priorityClassName", Check: spec(func(s *ServiceSpec, at *field.Path) field.ErrorList {
			return ValidatePriorityClassName(s.PriorityClassName, at)
		})},
	}...)
}

func validatePreStopSleep(s *ServiceSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	sleep := s.PreStopSleep()
	if sleep < 0 {
		errs = append(errs, field.Invalid(at, sleep, "preStopSleepSeconds must be at least 0"))
	}
	if sleep >= s.TerminationGracePeriod() {
		errs = append(errs, field.Invalid(at, sleep, "preStopSleepSeconds must be less than terminationGracePeriodSeconds"))
	}
	return errs
}

// maxServiceName leaves room for the longest suffix of a Job's name in its pods' label.
const maxServiceName = 40

// NameRules are those about the name of a service.
func NameRules[T interface{ GetName() string }]() rules.Table[T] {
	return rules.Table[T]{{Path: "metadata.name", Check: func(r T, at *field.Path) field.ErrorList {
		name := r.GetName()
		if name == "" {
			return nil // The API server may still generate one.
		}
		errs := ValidateServiceName(name, "it becomes the name of a Service", at)
		if len(name) > maxServiceName {
			errs = append(errs, field.Invalid(at, name,
				fmt.Sprintf("name must be no longer than %d characters: Jobs are named after it", maxServiceName)))
		}
		return errs
	}}}
}
