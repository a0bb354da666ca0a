package apitest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func gatewayOf(hostname string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{Hostname: hostname, ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}}
}

func scaling(change func(*commonv1.AutoscalingSpec)) func(*commonv1.ServiceSpec) {
	return func(s *commonv1.ServiceSpec) {
		s.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 10, TargetCPUUtilization: new(int32(80))}
		change(s.Autoscaling)
	}
}

func uwsgi(spec commonv1.UWSGISpec) func(*commonv1.ServiceSpec) {
	return func(s *commonv1.ServiceSpec) { s.UWSGI = &spec }
}

func pulling(names ...string) func(*commonv1.ServiceSpec) {
	return func(s *commonv1.ServiceSpec) {
		for _, name := range names {
			s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	}
}

// workloadViolations concern the pods and their exposure.
var workloadViolations = []serviceViolation{
	{
		"autoscaling without a target", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetCPUUtilization = nil }),
		"spec.autoscaling", "at least one of targetCPUUtilization or targetMemoryUtilization must be set",
		"at least one of targetCPUUtilization or targetMemoryUtilization must be set", "",
	},
	{
		"no lower bound for autoscaling", scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas = new(int32(0)) }),
		"spec.autoscaling.minReplicas", "minReplicas must be at least 1", TooSmall, "",
	},
	{
		"an upper bound below the lower one", scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas = new(int32(11)) }),
		"spec.autoscaling.minReplicas", "must not exceed maxReplicas", "must not exceed maxReplicas", "",
	},
	{
		"no upper bound for autoscaling", scaling(func(s *commonv1.AutoscalingSpec) { s.MaxReplicas = 0 }),
		"spec.autoscaling.maxReplicas", "maxReplicas must be at least 1", TooSmall, "",
	},
	{
		"too high an upper bound for autoscaling", scaling(func(s *commonv1.AutoscalingSpec) { s.MaxReplicas = 1001 }),
		"spec.autoscaling.maxReplicas", "maxReplicas must be at most 1000", TooLarge, "",
	},
	{
		"an upper bound below spec.replicas", scaling(func(s *commonv1.AutoscalingSpec) { s.MaxReplicas = 2 }),
		"spec.autoscaling.maxReplicas", "must be at least spec.replicas when minReplicas is not set",
		"must be at least spec.replicas when minReplicas is not set", "",
	},
	{
		"a CPU target of nothing", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetCPUUtilization = new(int32(0)) }),
		"spec.autoscaling.targetCPUUtilization", "targetCPUUtilization must be at least 1", TooSmall, "",
	},
	{
		"a memory target above everything", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetMemoryUtilization = new(int32(101)) }),
		"spec.autoscaling.targetMemoryUtilization", "targetMemoryUtilization must be at most 100", TooLarge, "",
	},
	{
		"a network policy that lets nobody in", func(s *commonv1.ServiceSpec) {
			s.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{}}
		},
		"spec.networkPolicy.ingress", "at least one ingress source must be specified",
		"at least one ingress source must be specified", "spec.networkPolicy",
	},
	{
		"a network policy for no namespace", func(s *commonv1.ServiceSpec) {
			s.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{{}}}
		},
		"spec.networkPolicy.ingress[0].namespaceSelector", "select namespaces by their labels, or all with {}", "Required value", "",
	},
	{
		"a namespace label that cannot exist", func(s *commonv1.ServiceSpec) {
			s.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{{
				NamespaceSelector: map[string]string{"name": "not a label"},
			}}}
		},
		"spec.networkPolicy.ingress[0].namespaceSelector", "a valid label must be", "", "",
	},
	{
		"a Gateway without a host", func(s *commonv1.ServiceSpec) { s.Gateway = gatewayOf("") },
		"spec.gateway.hostname", "Required value", TooShort, "",
	},
	{
		"a Gateway with a wildcard host", func(s *commonv1.ServiceSpec) { s.Gateway = gatewayOf("*.example.com") },
		"spec.gateway.hostname", "without a wildcard or port", NoMatch, "",
	},
	{
		"a Gateway without a name", func(s *commonv1.ServiceSpec) { s.Gateway = &commonv1.GatewaySpec{Hostname: "api.example.com"} },
		"spec.gateway.parentRef.name", "Required value", TooShort, "",
	},
	{
		"a path with a space", func(s *commonv1.ServiceSpec) {
			s.Gateway = gatewayOf("api.example.com")
			s.Gateway.Path = "/the service"
		},
		"spec.gateway.path", "must be the path of a URL", NoMatch, "",
	},
	{
		"negative processes", uwsgi(commonv1.UWSGISpec{Processes: -1}),
		"spec.uwsgi.processes", "processes must be at least 1", TooSmall, "",
	},
	{
		"too many processes", uwsgi(commonv1.UWSGISpec{Processes: 257}),
		"spec.uwsgi.processes", "processes must be at most 256", TooLarge, "",
	},
	{
		"negative threads", uwsgi(commonv1.UWSGISpec{Threads: -1}),
		"spec.uwsgi.threads", "threads must be at least 1", TooSmall, "",
	},
	{
		"too many threads", uwsgi(commonv1.UWSGISpec{Threads: 257}),
		"spec.uwsgi.threads", "threads must be at most 256", TooLarge, "",
	},
	{
		"an unbounded keep-alive", uwsgi(commonv1.UWSGISpec{HTTPKeepAliveTimeout: new(int32(0))}),
		"spec.uwsgi.httpKeepAliveTimeout", "httpKeepAliveTimeout must be at least 1", TooSmall, "",
	},
	{
		"a keep-alive for days", uwsgi(commonv1.UWSGISpec{HTTPKeepAliveTimeout: new(int32(86401))}),
		"spec.uwsgi.httpKeepAliveTimeout", "httpKeepAliveTimeout must be at most 86400", TooLarge, "",
	},
	{
		"a timeout of a keep-alive that is off", uwsgi(commonv1.UWSGISpec{HTTPKeepAlive: new(false), HTTPKeepAliveTimeout: new(int32(5))}),
		"spec.uwsgi.httpKeepAliveTimeout", "httpKeepAliveTimeout requires httpKeepAlive to be true",
		"httpKeepAliveTimeout requires httpKeepAlive to be true", "",
	},
	{
		"a harakiri of nothing", uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(0))}),
		"spec.uwsgi.harakiri", "harakiri must be at least 1", TooSmall, "",
	},
	{
		"a harakiri as long as the drain", uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(25))}),
		"spec.uwsgi.harakiri", "harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds",
		"harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds", "",
	},
	{
		"a grace period that is too short", func(s *commonv1.ServiceSpec) { s.TerminationGracePeriodSeconds = new(int64(9)) },
		"spec.terminationGracePeriodSeconds", "terminationGracePeriodSeconds must be at least 10", TooSmall, "",
	},
	{
		"a grace period of days", func(s *commonv1.ServiceSpec) { s.TerminationGracePeriodSeconds = new(int64(86401)) },
		"spec.terminationGracePeriodSeconds", "terminationGracePeriodSeconds must be at most 86400", TooLarge, "",
	},
	{
		"a negative sleep", func(s *commonv1.ServiceSpec) { s.PreStopSleepSeconds = new(int64(-1)) },
		"spec.preStopSleepSeconds", "preStopSleepSeconds must be at least 0", TooSmall, "",
	},
	{
		"a sleep as long as the grace period", func(s *commonv1.ServiceSpec) { s.PreStopSleepSeconds = new(int64(30)) },
		"spec.preStopSleepSeconds", "preStopSleepSeconds must be less than terminationGracePeriodSeconds",
		"preStopSleepSeconds must be less than terminationGracePeriodSeconds", "",
	},
	{
		"a rolling update under Recreate", func(s *commonv1.ServiceSpec) {
			s.Strategy = &appsv1.DeploymentStrategy{
				Type: appsv1.RecreateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{},
			}
		},
		"spec.strategy.rollingUpdate", "rollingUpdate must not be set when type is Recreate",
		"rollingUpdate must not be set when type is Recreate", "",
	},
	{
		"an unknown strategy", func(s *commonv1.ServiceSpec) { s.Strategy = &appsv1.DeploymentStrategy{Type: "BlueGreen"} },
		"spec.strategy.type", "Unsupported value", "", "",
	},
	{
		"a request above its limit", func(s *commonv1.ServiceSpec) {
			s.Resources = &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")},
				Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
			}
		},
		"spec.resources.requests.cpu", "must not exceed the limit of 500m", "", "",
	},
	{
		"a priority class that cannot exist", func(s *commonv1.ServiceSpec) { s.PriorityClassName = new("Not_A_Name") },
		"spec.priorityClassName", "RFC 1123 subdomain", "", "",
	},
	{
		"a pull secret without a name", pulling(""),
		"spec.imagePullSecrets[0].name", "name the Secret with which the image is pulled",
		"name the Secret with which the image is pulled", "spec.imagePullSecrets",
	},
	{
		"a pull secret that cannot exist", pulling("Not_A_Name"),
		"spec.imagePullSecrets[0].name", "RFC 1123 subdomain", "", "",
	},
	{
		"a pull secret twice", pulling("registry", "registry"),
		"spec.imagePullSecrets[1]", "Duplicate value", "Duplicate value", "",
	},
}

// spreadViolations concern how the pods are spread over the cluster.
func (s Service[T]) spreadViolations() []Violation[T] {
	return []Violation[T]{
		{
			"a skew of nothing", s.spreading(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 0 }),
			"spec.topologySpreadConstraints[0].maxSkew", "maxSkew must be at least 1", "maxSkew must be at least 1",
			"spec.topologySpreadConstraints",
		},
		{
			"spreading by no label", s.spreading(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }),
			"spec.topologySpreadConstraints[0].topologyKey", "Required value", "", "",
		},
		{
			"spreading by an unknown rule", s.spreading(func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "Never" }),
			"spec.topologySpreadConstraints[0].whenUnsatisfiable", "Unsupported value", "", "",
		},
		{
			"spreading over the same twice", func(object T) {
				object.ServiceSpec().TopologySpreadConstraints = []corev1.TopologySpreadConstraint{s.spread(object), s.spread(object)}
			},
			"spec.topologySpreadConstraints[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"spreading nothing", s.spreading(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }),
			"spec.topologySpreadConstraints[0].labelSelector", "Required value", "", "",
		},
		{
			"spreading other pods", s.spreading(func(c *corev1.TopologySpreadConstraint) {
				c.LabelSelector = &metav1.LabelSelector{MatchLabels: s.Selector("other")}
			}),
			"spec.topologySpreadConstraints[0].labelSelector", "matchLabels must equal the labels of the API pods", "", "",
		},
		{
			"spreading by expressions", s.spreading(func(c *corev1.TopologySpreadConstraint) {
				c.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}
			}),
			"spec.topologySpreadConstraints[0].labelSelector.matchExpressions", "matchExpressions must not be set", "", "",
		},
	}
}
