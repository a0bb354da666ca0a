package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func gateway(hostname string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{Hostname: hostname, ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}}
}

func filter(name string) commonv1.MiddlewareSpec {
	return commonv1.MiddlewareSpec{
		Name: name, FilterFactory: "keystonemiddleware.audit:filter_factory", Position: commonv1.PipelineAfter,
	}
}

func scaling(change func(*commonv1.AutoscalingSpec)) func(*Keystone) {
	return func(k *Keystone) {
		k.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 10, TargetCPUUtilization: new(int32(80))}
		change(k.Spec.Autoscaling)
	}
}

func uwsgi(spec commonv1.UWSGISpec) func(*Keystone) {
	return func(k *Keystone) { k.Spec.UWSGI = &spec }
}

func spreading(change func(*corev1.TopologySpreadConstraint)) func(*Keystone) {
	return func(k *Keystone) {
		constraint := spread(apiPods())
		change(&constraint)
		k.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
	}
}

func workloadViolations() []violation {
	return []violation{
		{
			"autoscaling without a target", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetCPUUtilization = nil }),
			"spec.autoscaling", "at least one of targetCPUUtilization or targetMemoryUtilization must be set",
			"at least one of targetCPUUtilization or targetMemoryUtilization must be set", "",
		},
		{
			"no lower bound for autoscaling", scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas = new(int32(0)) }),
			"spec.autoscaling.minReplicas", "minReplicas must be at least 1", apitest.TooSmall, "",
		},
		{
			"an upper bound below the lower one", scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas = new(int32(11)) }),
			"spec.autoscaling.minReplicas", "must not exceed maxReplicas", "must not exceed maxReplicas", "",
		},
		{
			"no upper bound for autoscaling", scaling(func(s *commonv1.AutoscalingSpec) { s.MaxReplicas = 0 }),
			"spec.autoscaling.maxReplicas", "maxReplicas must be at least 1", apitest.TooSmall, "",
		},
		{
			"an upper bound below spec.replicas", scaling(func(s *commonv1.AutoscalingSpec) { s.MaxReplicas = 2 }),
			"spec.autoscaling.maxReplicas", "must be at least spec.replicas when minReplicas is not set",
			"must be at least spec.replicas when minReplicas is not set", "",
		},
		{
			"a CPU target of nothing", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetCPUUtilization = new(int32(0)) }),
			"spec.autoscaling.targetCPUUtilization", "targetCPUUtilization must be at least 1", apitest.TooSmall, "",
		},
		{
			"a memory target above everything", scaling(func(s *commonv1.AutoscalingSpec) { s.TargetMemoryUtilization = new(int32(101)) }),
			"spec.autoscaling.targetMemoryUtilization", "targetMemoryUtilization must be at most 100", apitest.TooLarge, "",
		},
		{
			"a network policy that lets nobody in", func(k *Keystone) {
				k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{}}
			},
			"spec.networkPolicy.ingress", "at least one ingress source must be specified",
			"at least one ingress source must be specified", "spec.networkPolicy",
		},
		{
			"a network policy for no namespace", func(k *Keystone) {
				k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{{}}}
			},
			"spec.networkPolicy.ingress[0].namespaceSelector", "select namespaces by their labels, or all with {}", "Required value", "",
		},
		{
			"a namespace label that cannot exist", func(k *Keystone) {
				k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: []commonv1.NetworkPolicyIngressSource{{
					NamespaceSelector: map[string]string{"name": "not a label"},
				}}}
			},
			"spec.networkPolicy.ingress[0].namespaceSelector", "a valid label must be", "", "",
		},
		{
			"a Gateway without a host", func(k *Keystone) { k.Spec.Gateway = gateway("") },
			"spec.gateway.hostname", "Required value", apitest.TooShort, "",
		},
		{
			"a Gateway with a wildcard host", func(k *Keystone) { k.Spec.Gateway = gateway("*.example.com") },
			"spec.gateway.hostname", "without a wildcard or port", apitest.NoMatch, "",
		},
		{
			"a Gateway without a name", func(k *Keystone) { k.Spec.Gateway = &commonv1.GatewaySpec{Hostname: "keystone.example.com"} },
			"spec.gateway.parentRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"negative processes", uwsgi(commonv1.UWSGISpec{Processes: -1}),
			"spec.uwsgi.processes", "processes must be at least 1", apitest.TooSmall, "",
		},
		{
			"too many processes", uwsgi(commonv1.UWSGISpec{Processes: 257}),
			"spec.uwsgi.processes", "processes must be at most 256", apitest.TooLarge, "",
		},
		{
			"negative threads", uwsgi(commonv1.UWSGISpec{Threads: -1}),
			"spec.uwsgi.threads", "threads must be at least 1", apitest.TooSmall, "",
		},
		{
			"too many threads", uwsgi(commonv1.UWSGISpec{Threads: 257}),
			"spec.uwsgi.threads", "threads must be at most 256", apitest.TooLarge, "",
		},
		{
			"an unbounded keep-alive", uwsgi(commonv1.UWSGISpec{HTTPKeepAliveTimeout: new(int32(0))}),
			"spec.uwsgi.httpKeepAliveTimeout", "httpKeepAliveTimeout must be at least 1", apitest.TooSmall, "",
		},
		{
			"a timeout of a keep-alive that is off", uwsgi(commonv1.UWSGISpec{HTTPKeepAlive: new(false), HTTPKeepAliveTimeout: new(int32(5))}),
			"spec.uwsgi.httpKeepAliveTimeout", "httpKeepAliveTimeout requires httpKeepAlive to be true",
			"httpKeepAliveTimeout requires httpKeepAlive to be true", "",
		},
		{
			"a harakiri of nothing", uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(0))}),
			"spec.uwsgi.harakiri", "harakiri must be at least 1", apitest.TooSmall, "",
		},
		{
			"a harakiri as long as the drain", uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(25))}),
			"spec.uwsgi.harakiri", "harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds",
			"harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds", "",
		},
		{
			"a grace period that is too short", func(k *Keystone) { k.Spec.TerminationGracePeriodSeconds = new(int64(9)) },
			"spec.terminationGracePeriodSeconds", "terminationGracePeriodSeconds must be at least 10", apitest.TooSmall, "",
		},
		{
			"a negative sleep", func(k *Keystone) { k.Spec.PreStopSleepSeconds = new(int64(-1)) },
			"spec.preStopSleepSeconds", "preStopSleepSeconds must be at least 0", apitest.TooSmall, "",
		},
		{
			"a sleep as long as the grace period", func(k *Keystone) { k.Spec.PreStopSleepSeconds = new(int64(30)) },
			"spec.preStopSleepSeconds", "preStopSleepSeconds must be less than terminationGracePeriodSeconds",
			"preStopSleepSeconds must be less than terminationGracePeriodSeconds", "",
		},
		{
			"a rolling update under Recreate", func(k *Keystone) {
				k.Spec.Strategy = &appsv1.DeploymentStrategy{
					Type: appsv1.RecreateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{},
				}
			},
			"spec.strategy.rollingUpdate", "rollingUpdate must not be set when type is Recreate",
			"rollingUpdate must not be set when type is Recreate", "",
		},
		{
			"an unknown strategy", func(k *Keystone) { k.Spec.Strategy = &appsv1.DeploymentStrategy{Type: "BlueGreen"} },
			"spec.strategy.type", "Unsupported value", "", "",
		},
		{
			"a request above its limit", func(k *Keystone) {
				k.Spec.Resources = &corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")},
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
				}
			},
			"spec.resources.requests.cpu", "must not exceed the limit of 500m", "", "",
		},
		{
			"a skew of nothing", spreading(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 0 }),
			"spec.topologySpreadConstraints[0].maxSkew", "maxSkew must be at least 1", "maxSkew must be at least 1",
			"spec.topologySpreadConstraints",
		},
		{
			"spreading by no label", spreading(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }),
			"spec.topologySpreadConstraints[0].topologyKey", "Required value", "", "",
		},
		{
			"spreading by an unknown rule", spreading(func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "Never" }),
			"spec.topologySpreadConstraints[0].whenUnsatisfiable", "Unsupported value", "", "",
		},
		{
			"spreading over the same twice", func(k *Keystone) {
				k.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(apiPods()), spread(apiPods())}
			},
			"spec.topologySpreadConstraints[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"spreading nothing", spreading(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }),
			"spec.topologySpreadConstraints[0].labelSelector", "Required value", "", "",
		},
		{
			"spreading other pods", spreading(func(c *corev1.TopologySpreadConstraint) {
				c.LabelSelector = &metav1.LabelSelector{MatchLabels: SelectorLabels("other")}
			}),
			"spec.topologySpreadConstraints[0].labelSelector", "matchLabels must equal the labels of the API pods", "", "",
		},
		{
			"spreading by expressions", spreading(func(c *corev1.TopologySpreadConstraint) {
				c.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}
			}),
			"spec.topologySpreadConstraints[0].labelSelector.matchExpressions", "matchExpressions must not be set", "", "",
		},
		{
			"a priority class that cannot exist", func(k *Keystone) { k.Spec.PriorityClassName = new("Not_A_Name") },
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
}

func pulling(names ...string) func(*Keystone) {
	return func(k *Keystone) {
		for _, name := range names {
			k.Spec.ImagePullSecrets = append(k.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	}
}
