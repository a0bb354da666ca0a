package apitest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// accepted returns changes to objects that are just within bounds.
func (s Service[T]) accepted() map[string]func(T) {
	changes := s.mutable()
	changes["what is managed in the cluster"] = s.managed
	return changes
}

// mutable returns allowed changes of a stored object that resemble refused ones.
func (s Service[T]) mutable() map[string]func(T) {
	changes := map[string]func(T){"spreading": s.spreading(func(*corev1.TopologySpreadConstraint) {})}
	for name, change := range serviceAccepted {
		changes[name] = s.changing(change)
	}
	for name, change := range PodsAccepted {
		changes[name] = s.changingPods(change)
	}
	if s.hasData() {
		for name, change := range dataAccepted {
			changes[name] = func(object T) { change(dataOf(object)) }
		}
	}
	if s.hasOptions() {
		for name, change := range optionsAccepted {
			changes[name] = func(object T) { change(optionsOf(object)) }
		}
		changes["policy rules"] = func(object T) {
			optionsOf(object).PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{s.Policy: "role:reader"}}
		}
	}
	return changes
}

var serviceAccepted = map[string]func(*commonv1.ServiceSpec){
	"a registry with a port":   func(s *commonv1.ServiceSpec) { s.Image.Repository = "registry.example.com:5000/a_b/c__d/e--f" },
	"a registry by address":    func(s *commonv1.ServiceSpec) { s.Image.Repository = "[fd00::1]:5000/service" },
	"a registry in upper case": func(s *commonv1.ServiceSpec) { s.Image.Repository = "Registry.example.com/service" },
	"a tag that is no release": func(s *commonv1.ServiceSpec) { s.Image.Tag = "latest" },
	"a digest":                 func(s *commonv1.ServiceSpec) { s.Image.Digest = Digest },
	"autoscaling by memory": scaling(func(s *commonv1.AutoscalingSpec) {
		s.TargetCPUUtilization, s.TargetMemoryUtilization = nil, new(int32(100))
	}),
	"autoscaling at one size": scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas, s.MaxReplicas = new(int32(1)), 1 }),
	"every namespace": func(s *commonv1.ServiceSpec) {
		s.NetworkPolicy = &commonv1.NetworkPolicySpec{
			Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{}}},
		}
	},
	"the longest harakiri":      uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(24))}),
	"keep-alive with a timeout": uwsgi(commonv1.UWSGISpec{HTTPKeepAliveTimeout: new(int32(5))}),
	"the largest uwsgi":         uwsgi(commonv1.UWSGISpec{Processes: 256, Threads: 256}),
	"no sleep":                  func(s *commonv1.ServiceSpec) { s.PreStopSleepSeconds = new(int64(0)) },
	"Recreate": func(s *commonv1.ServiceSpec) {
		s.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	},
	"no spreading":      func(s *commonv1.ServiceSpec) { s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{} },
	"no priority class": func(s *commonv1.ServiceSpec) { s.PriorityClassName = new("") },
	"a limit of one kind": func(s *commonv1.ServiceSpec) {
		s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{}}
	},
}

var dataAccepted = map[string]func(*commonv1.DataSpec){
	"another database server": func(s *commonv1.DataSpec) { s.Database.Host = "other.example.com" },
	"an address as host":      func(s *commonv1.DataSpec) { s.Database.Host = "192.0.2.1" },
	"an IPv6 address as host": func(s *commonv1.DataSpec) { s.Database.Host = "2001:db8::1" },
	"TLS that is off":         func(s *commonv1.DataSpec) { s.Database.TLS = &commonv1.DatabaseTLSSpec{} },
	"TLS that is on": func(s *commonv1.DataSpec) {
		s.Database.TLS = &commonv1.DatabaseTLSSpec{
			Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
			CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca", Key: "ca.pem"}, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"},
		}
	},
}

var optionsAccepted = map[string]func(*commonv1.OptionsSpec){
	"a policy ConfigMap": func(s *commonv1.OptionsSpec) {
		s.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}}
	},
	"an empty value": func(s *commonv1.OptionsSpec) { s.ExtraConfig = map[string]map[string]string{"a": {"b": ""}} },
}
