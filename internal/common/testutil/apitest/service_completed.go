package apitest

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Completed returns the description of the kind with everything about the shared
// fields added. The given description covers only the other fields, and its minimal
// object has an external cache, an external database if there is one, and the name of the
// service.
func (s Service[T]) Completed(kind Kind[T]) Kind[T] {
	complete := kind.Complete
	kind.Complete = nil
	for _, object := range complete {
		for _, change := range []func(T){s.changing(func(s *commonv1.ServiceSpec) { SecretFirst(&s.PodSettings) }), s.managed} {
			kind.Complete = append(kind.Complete, func() T {
				filled := object()
				s.complete(filled.ServiceSpec(), s.spread(filled))
				completeUser(filled)
				s.completeData(filled)
				s.completeOptions(filled)
				change(filled)
				return filled
			})
		}
	}
	kind.Violations = slices.Concat(s.violations(), PodViolations("spec", s.changingPods), kind.Violations)
	accepted, mutable := s.accepted(), s.mutable()
	maps.Copy(accepted, kind.Accepted)
	maps.Copy(mutable, kind.Mutable)
	kind.Accepted, kind.Mutable = accepted, mutable
	kind.DefaultRows = slices.Concat(serviceDefaults, kind.DefaultRows)
	kind.OperatorDefaults = append([]string{"spec.resources"}, kind.OperatorDefaults...)
	kind.KubernetesFields = slices.Concat([]string{
		"spec.affinity", "spec.extraEnv[0]", "spec.networkPolicy.additionalEgress[0]", "spec.resources", "spec.strategy",
		"spec.topologySpreadConstraints[0]",
	}, kind.KubernetesFields)
	kind.Words = slices.Concat([]string{"", "a", "x\ny", "0 0 * * *", "https://a.example.com"}, kind.Words)
	if s.hasData() {
		kind.Violations = slices.Concat(converted(dataViolations, dataOf[T]), kind.Violations)
		kind.Updates = slices.Concat(converted(dataUpdates, dataOf[T]), kind.Updates)
		kind.DefaultRows = slices.Concat(dataDefaults, kind.DefaultRows)
		kind.SameAsNothing = append([]string{"spec.database.port minimum"}, kind.SameAsNothing...)
	}
	if s.hasOptions() {
		kind.Violations = slices.Concat(converted(optionsViolations, optionsOf[T]), kind.Violations)
	}
	return withUser(kind)
}

// completeData sets every field about the database, if there is one.
func (s Service[T]) completeData(object T) {
	data := dataOf(object)
	if data == nil {
		return
	}
	data.DeletionPolicy = commonv1.DeletionPolicyRetain
	data.Database.Port, data.Database.SecretRef.Key = 3306, "password"
	data.Database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
		CABundleSecretRef:   &commonv1.SecretRefSpec{Name: "ca", Key: "ca.crt"},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client", Key: "tls.crt"},
	}
}

// completeOptions sets every field about options, if there are any.
func (s Service[T]) completeOptions(object T) {
	options := optionsOf(object)
	if options == nil {
		return
	}
	options.PolicyOverrides = &commonv1.PolicySpec{
		Rules: map[string]string{s.Policy: "role:reader"}, ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"},
	}
	options.ExtraConfig = map[string]map[string]string{"DEFAULT": {"debug": "true"}}
	options.GlobalExtraConfig = map[string]map[string]string{"DEFAULT": {"debug": "false"}}
	options.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "secret-options", Key: "options.conf"}
}

// complete sets every field that all services share.
func (s Service[T]) complete(spec *commonv1.ServiceSpec, spread corev1.TopologySpreadConstraint) {
	spec.Replicas = 3
	spec.Image.Digest, spec.PodSettings = Digest, PodSettings()
	spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	spec.Cache.Backend, spec.Cache.Replicas = commonv1.DefaultCacheBackend, 3
	spec.Logging = &commonv1.LoggingSpec{
		Format: commonv1.LogFormatText, Level: commonv1.LogLevelInfo, PerLoggerLevels: map[string]string{"sqlalchemy.engine": "WARNING"},
	}
	completeWorkload(spec)
	spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread}
}

func completeWorkload(spec *commonv1.ServiceSpec) {
	spec.Autoscaling = &commonv1.AutoscalingSpec{
		MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilization: new(int32(80)), TargetMemoryUtilization: new(int32(80)),
	}
	spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
		Ingress: []commonv1.NetworkPolicyIngressSource{{
			NamespaceSelector: map[string]string{"name": "openstack"}, PodSelector: map[string]string{"app": "client"},
		}},
		AdditionalEgress: []networkingv1.NetworkPolicyEgressRule{{}},
	}
	spec.Gateway = &commonv1.GatewaySpec{
		Hostname: "api.example.com", Path: "/", Annotations: map[string]string{"a": "b"},
		ParentRef: commonv1.GatewayParentRefSpec{Name: "public", Namespace: "gateways", SectionName: "https"},
	}
	spec.Resources = &corev1.ResourceRequirements{}
	spec.UWSGI = &commonv1.UWSGISpec{
		Processes: 2, Threads: 1, HTTPKeepAlive: new(true), HTTPKeepAliveTimeout: new(int32(5)), Harakiri: new(int32(20)),
	}
	spec.PriorityClassName = new("system-cluster-critical")
	spec.TerminationGracePeriodSeconds, spec.PreStopSleepSeconds = new(int64(30)), new(int64(5))
	spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType}
}

// serviceDefaults are the defaults of the shared fields.
var serviceDefaults = []Default{
	{Path: "spec.replicas", Want: int64(3)},
	{Path: "spec.cache.backend", Want: "dogpile.cache.pymemcache"},
	{Path: "spec.cache.replicas", Want: int64(3)},
	{Path: "spec.uwsgi.processes", Want: int64(2), Within: "spec.uwsgi"},
	{Path: "spec.uwsgi.threads", Want: int64(1), Within: "spec.uwsgi"},
	{Path: "spec.uwsgi.httpKeepAlive", Want: true, Within: "spec.uwsgi"},
	{Path: "spec.logging.format", Want: "text"},
	{Path: "spec.logging.level", Want: "INFO"},
	{Path: "spec.logging.debug", Want: false},
}

// dataDefaults are the defaults of the fields about the database.
var dataDefaults = []Default{
	{Path: "spec.database.tls.enabled", Want: false, Within: "spec.database.tls"},
	{Path: "spec.database.tls.mode", Want: "require", Within: "spec.database.tls"},
}

func (s Service[T]) violations() []Violation[T] {
	shared := slices.Concat(backingViolations, configurationViolations, workloadViolations)
	return slices.Concat(converted(shared, specOf[T]), s.spreadViolations())
}
