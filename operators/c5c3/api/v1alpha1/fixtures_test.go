package v1alpha1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// minimal returns the least a user has to write.
func minimal() *ControlPlane {
	return &ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: "openstack"},
		Spec:       ControlPlaneSpec{OpenStackRelease: "2025.2", Services: ServicesSpec{Keystone: &ServiceKeystoneSpec{}}},
	}
}

// completed is what the schema makes of minimal.
func completed() *ControlPlane { return defaulted(minimal()) }

func defaulted(cp *ControlPlane) *ControlPlane {
	cp = cp.DeepCopy()
	SetDefaults(cp)
	return cp
}

func named(name string) *corev1.LocalObjectReference { return &corev1.LocalObjectReference{Name: name} }

func externalDatabase() commonv1.DatabaseSpec {
	return commonv1.DatabaseSpec{Host: "db.example.com", Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "db"}}
}

func every(interval time.Duration) *metav1.Duration { return &metav1.Duration{Duration: interval} }

func gateway(hostname string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}, Hostname: hostname}
}
