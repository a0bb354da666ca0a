package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

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
