package v1alpha1

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Accepted changes that no stored object can make.
const (
	longestName    = "the longest name"
	managedServers = "a managed database and cache"
)

// accepted are objects at the edge of what is allowed.
func accepted() map[string]func(*Keystone) {
	return map[string]func(*Keystone){
		managedServers:             func(k *Keystone) { k.Spec = minimalManaged().Spec },
		longestName:                func(k *Keystone) { k.Name = strings.Repeat("k", 34) },
		"a registry with a port":   func(k *Keystone) { k.Spec.Image.Repository = "registry.example.com:5000/a_b/c__d/e--f" },
		"a registry by address":    func(k *Keystone) { k.Spec.Image.Repository = "[fd00::1]:5000/keystone" },
		"a registry in upper case": func(k *Keystone) { k.Spec.Image.Repository = "Registry.example.com/keystone" },
		"a tag that is no release": func(k *Keystone) { k.Spec.Image.Tag = "latest" },
		"an address as host":       func(k *Keystone) { k.Spec.Database.Host = "192.0.2.1" },
		"an IPv6 address as host":  func(k *Keystone) { k.Spec.Database.Host = "2001:db8::1" },
		"TLS that is off":          func(k *Keystone) { k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{} },
		"TLS that is on": func(k *Keystone) {
			k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{
				Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
				CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca", Key: "ca.pem"}, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"},
			}
		},
		"a schedule by name":          func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "@daily"} },
		"a password rotation":         func(k *Keystone) { k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true} },
		"a rotation that is off":      func(k *Keystone) { k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{} },
		"a public endpoint with port": func(k *Keystone) { publish(k, "https://keystone.example.com:8443/v3") },
		"an endpoint without Gateway": func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "http://keystone.example.com/v3" },
		"a policy ConfigMap": func(k *Keystone) {
			k.Spec.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}}
		},
		"policy rules": func(k *Keystone) {
			k.Spec.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"identity:list_users": "role:reader"}}
		},
		"autoscaling by memory": scaling(func(s *commonv1.AutoscalingSpec) {
			s.TargetCPUUtilization, s.TargetMemoryUtilization = nil, new(int32(100))
		}),
		"autoscaling at one size": scaling(func(s *commonv1.AutoscalingSpec) { s.MinReplicas, s.MaxReplicas = new(int32(1)), 1 }),
		"every namespace": func(k *Keystone) {
			k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
				Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{}}},
			}
		},
		"the longest harakiri":      uwsgi(commonv1.UWSGISpec{Harakiri: new(int32(24))}),
		"keep-alive with a timeout": uwsgi(commonv1.UWSGISpec{HTTPKeepAliveTimeout: new(int32(5))}),
		"the largest uwsgi":         uwsgi(commonv1.UWSGISpec{Processes: 256, Threads: 256}),
		"no sleep":                  func(k *Keystone) { k.Spec.PreStopSleepSeconds = new(int64(0)) },
		"Recreate": func(k *Keystone) {
			k.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		},
		"no spreading":        func(k *Keystone) { k.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{} },
		"spreading":           spreading(func(*corev1.TopologySpreadConstraint) {}),
		"no priority class":   func(k *Keystone) { k.Spec.PriorityClassName = new("") },
		"a middleware":        func(k *Keystone) { k.Spec.Middleware = []commonv1.MiddlewareSpec{filter("audit")} },
		"an empty value":      func(k *Keystone) { k.Spec.ExtraConfig = map[string]map[string]string{"a": {"b": ""}} },
		"federation":          func(k *Keystone) { k.Spec.Federation = &FederationSpec{Enabled: true} },
		"a limit of one kind": func(k *Keystone) { k.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{}} },
		"what the operator sets itself": func(k *Keystone) {
			k.Spec.ExtraConfig = map[string]map[string]string{
				"Token": {"provider": "fernet", "expiration": "7200"}, "fernet_tokens": {"key_repository": "/etc/keystone/fernet-keys/"},
				"credential": {"key_repository": "/etc/keystone/credential-keys"}, "cache": {"proxies": "forge_cache.Guard", "debug": "true"},
			}
		},
	}
}

func publish(k *Keystone, endpoint string) {
	k.Spec.Gateway = gateway("keystone.example.com")
	k.Spec.Bootstrap.PublicEndpoint = endpoint
}

// emptySchedules cannot be expressed through a Go client, which leaves empty
// fields out, so that the API server fills in the default.
func emptySchedules() []violation {
	const message = "set a cron expression with five fields"
	return []violation{
		{
			"no fernet schedule", func(k *Keystone) { k.Spec.Fernet = FernetSpec{MaxActiveKeys: 3} },
			"spec.fernet.rotationSchedule", message, "", "",
		},
		{
			"no credential key schedule", func(k *Keystone) { k.Spec.CredentialKeys = CredentialKeysSpec{MaxActiveKeys: 3} },
			"spec.credentialKeys.rotationSchedule", message, "", "",
		},
		{
			"no trust flush schedule", func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{} },
			"spec.trustFlush.schedule", message, "", "",
		},
	}
}

func TestErrorsDoNotRepeatConfigurationValues(t *testing.T) {
	const secret = "s3cret\nvalue"
	k := minimal()
	k.Spec.ExtraConfig = map[string]map[string]string{"ldap": {"password": secret}}
	k.Spec.Plugins = []commonv1.PluginSpec{{Name: "p", ConfigSection: "p", Config: map[string]string{"token": secret}}}
	audit := filter("audit")
	audit.Config = map[string]string{"password": secret}
	k.Spec.Middleware = []commonv1.MiddlewareSpec{audit}
	errs := Validate(defaulted(k))
	if len(errs) != 3 {
		t.Fatalf("want an error for each of the three values, got %v", errs)
	}
	if text := errs.ToAggregate().Error(); strings.Contains(text, "s3cret") {
		t.Errorf("an error repeats the value: %s", text)
	}
}

// immutableChanges are the changes of a stored Keystone that are refused.
func immutableChanges() []violation {
	return []violation{
		{
			Name: "database name", Change: func(k *Keystone) { k.Spec.Database.Database = "other" },
			Path: "spec.database.database", Message: "database name is immutable",
		},
		{
			Name: "database mode", Change: func(k *Keystone) {
				k.Spec.Database.Host, k.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
			},
			Path: "spec.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
		},
		{
			Name: "administrator", Change: func(k *Keystone) { k.Spec.Bootstrap.AdminUser = "root" },
			Path: "spec.bootstrap.adminUser", Message: "bootstrap.adminUser is immutable",
		},
		{
			Name: "region", Change: func(k *Keystone) { k.Spec.Bootstrap.Region = "RegionTwo" },
			Path: "spec.bootstrap.region", Message: "bootstrap.region is immutable",
		},
	}
}

// mutableChanges are changes of a stored Keystone that look like refused ones.
func mutableChanges() map[string]func(*Keystone) {
	changes := accepted()
	delete(changes, longestName)
	delete(changes, managedServers)
	changes["another host of the same database"] = func(k *Keystone) { k.Spec.Database.Host = "other.example.com" }
	return changes
}
