package v1alpha1

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// minimal returns the least a user has to write.
func minimal() *Keystone {
	return &Keystone{
		ObjectMeta: metav1.ObjectMeta{Name: "keystone", Namespace: "openstack"},
		Spec: KeystoneSpec{
			Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2"},
			Database: commonv1.DatabaseSpec{
				Host: "db.example.com", Database: "keystone",
				SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
			},
			Cache:     commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			Bootstrap: BootstrapSpec{AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "keystone-admin"}},
		},
	}
}

func minimalManaged() *Keystone {
	k := minimal()
	k.Spec.Database.Host = ""
	k.Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"}
	k.Spec.Cache.Servers = nil
	k.Spec.Cache.ClusterRef = &corev1.LocalObjectReference{Name: "memcached"}
	return k
}

func defaulted(k *Keystone) *Keystone {
	k = k.DeepCopy()
	SetDefaults(k)
	return k
}

func spread(selector *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector,
	}
}

func apiPods() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: SelectorLabels("keystone")}
}

// complete returns a brownfield Keystone with every field set.
func complete() *Keystone {
	k := minimal()
	k.Spec.Replicas = 3
	k.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain
	k.Spec.Database.Port = 3306
	k.Spec.Database.SecretRef.Key = "password"
	k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
		CABundleSecretRef:   &commonv1.SecretRefSpec{Name: "ca", Key: "ca.crt"},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client", Key: "tls.crt"},
	}
	k.Spec.Cache.Backend, k.Spec.Cache.Replicas = commonv1.DefaultCacheBackend, 3
	k.Spec.Fernet = FernetSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 3}
	k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 3}
	k.Spec.TrustFlush = &TrustFlushSpec{Schedule: DefaultTrustFlushSchedule, Args: []string{"--date"}}
	k.Spec.Federation = &FederationSpec{Enabled: true}
	k.Spec.Bootstrap = BootstrapSpec{
		AdminUser: "admin", Region: "RegionOne", PublicEndpoint: "https://keystone.example.com/v3",
		AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "keystone-admin", Key: "password"},
		PasswordRotation:       &PasswordRotationSpec{Enabled: true, Schedule: DefaultPasswordSchedule, PasswordLength: 32},
	}
	completeConfiguration(k)
	completeWorkload(k)
	return k
}

func completeConfiguration(k *Keystone) {
	options := map[string]string{"option": "value"}
	audit := filter("audit")
	audit.Config = options
	k.Spec.Middleware = []commonv1.MiddlewareSpec{audit}
	k.Spec.Plugins = []commonv1.PluginSpec{{Name: "plugin", ConfigSection: "plugin", Config: options}}
	k.Spec.PolicyOverrides = &commonv1.PolicySpec{
		Rules: map[string]string{"identity:list_users": "role:reader"}, ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"},
	}
	k.Spec.Logging = &commonv1.LoggingSpec{
		Format: commonv1.LogFormatText, Level: commonv1.LogLevelInfo, PerLoggerLevels: map[string]string{"sqlalchemy.engine": "WARNING"},
	}
	k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "7200"}}
	k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "keystone-ldap", Key: "keystone.conf"}
}

func completeWorkload(k *Keystone) {
	k.Spec.Autoscaling = &commonv1.AutoscalingSpec{
		MinReplicas: new(int32(2)), MaxReplicas: 10, TargetCPUUtilization: new(int32(80)), TargetMemoryUtilization: new(int32(80)),
	}
	k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
		Ingress: []commonv1.NetworkPolicyIngressSource{{
			NamespaceSelector: map[string]string{"name": "openstack"}, PodSelector: map[string]string{"app": "client"},
		}},
		AdditionalEgress: []networkingv1.NetworkPolicyEgressRule{{}},
	}
	k.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	k.Spec.Gateway = gateway("keystone.example.com")
	k.Spec.Gateway.ParentRef.Namespace, k.Spec.Gateway.ParentRef.SectionName = "gateways", "https"
	k.Spec.Gateway.Path, k.Spec.Gateway.Annotations = "/", map[string]string{"a": "b"}
	k.Spec.Resources = &corev1.ResourceRequirements{}
	k.Spec.UWSGI = &commonv1.UWSGISpec{
		Processes: 2, Threads: 1, HTTPKeepAlive: new(true), HTTPKeepAliveTimeout: new(int32(5)), Harakiri: new(int32(20)),
	}
	k.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(apiPods())}
	k.Spec.PriorityClassName = new("system-cluster-critical")
	k.Spec.TerminationGracePeriodSeconds, k.Spec.PreStopSleepSeconds = new(int64(30)), new(int64(5))
	k.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType}
}

// completeManaged returns a Keystone with the fields that complete cannot have.
func completeManaged() *Keystone {
	k := complete()
	k.Spec.Database.Host, k.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
	k.Spec.Cache.Servers, k.Spec.Cache.ClusterRef = nil, &corev1.LocalObjectReference{Name: "memcached"}
	return k
}
