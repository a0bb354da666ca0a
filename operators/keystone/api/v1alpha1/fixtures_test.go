package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// minimal returns the least a user has to write.
func minimal() *Keystone {
	return &Keystone{
		ObjectMeta: metav1.ObjectMeta{Name: "keystone", Namespace: "openstack"},
		Spec: KeystoneSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "keystone",
					SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
				},
			},
			Bootstrap: BootstrapSpec{AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "keystone-admin"}},
		},
	}
}

func defaulted(k *Keystone) *Keystone {
	k = k.DeepCopy()
	SetDefaults(k)
	return k
}

// complete returns a Keystone with every field set that only a Keystone has.
func complete() *Keystone {
	k := minimal()
	k.Spec.Fernet = FernetSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 3}
	k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 3}
	k.Spec.TrustFlush = &TrustFlushSpec{Schedule: DefaultTrustFlushSchedule, Args: []string{"--date"}}
	k.Spec.Federation = &FederationSpec{Enabled: true}
	k.Spec.TrustedDashboards = []string{"https://horizon.example.com/auth/websso/"}
	k.Spec.ProxyImage = &commonv1.ImageSpec{
		Repository: "registry.example.com/keystone-proxy", Tag: "2.4", Digest: "sha256:" + strings.Repeat("0", 64),
	}
	k.Spec.Bootstrap = BootstrapSpec{
		AdminUser: "admin", Region: "RegionOne", PublicEndpoint: "https://api.example.com/v3",
		AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "keystone-admin", Key: "password"},
		PasswordRotation:       &PasswordRotationSpec{Enabled: true, Schedule: DefaultPasswordSchedule, PasswordLength: 32},
	}
	options := map[string]string{"option": "value"}
	audit := filter("audit")
	audit.Config, audit.Files = options, map[string]string{"audit_map.ini": "[path_keywords]\n"}
	k.Spec.Middleware = []MiddlewareSpec{audit}
	k.Spec.Plugins = []PluginSpec{{Name: "plugin", ConfigSection: "plugin", Config: options}}
	return k
}
