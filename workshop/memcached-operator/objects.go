package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	port         = 11211
	portName     = "memcached"
	defaultImage = "docker.io/library/memcached:1.6"
)

func labels(m *Memcached) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": m.Name}
}

func owner(m *Memcached) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().WithAPIVersion(groupVersion.String()).WithKind("Memcached").
		WithName(m.Name).WithUID(m.UID).WithController(true).WithBlockOwnerDeletion(true)
}

// service returns the Service that clients use. It is headless, so that its name
// resolves to all servers and clients choose among them: the servers do not share
// their entries.
func service(m *Memcached) *applycorev1.ServiceApplyConfiguration {
	return applycorev1.Service(m.Name, m.Namespace).
		WithLabels(labels(m)).
		WithOwnerReferences(owner(m)).
		WithSpec(applycorev1.ServiceSpec().
			WithSelector(labels(m)).
			WithClusterIP(corev1.ClusterIPNone).
			WithPorts(applycorev1.ServicePort().WithName(portName).WithPort(port).WithTargetPort(intstr.FromString(portName))))
}

// deployment returns the Deployment of the servers.
func deployment(m *Memcached) *applyappsv1.DeploymentApplyConfiguration {
	return applyappsv1.Deployment(m.Name, m.Namespace).
		WithLabels(labels(m)).
		WithOwnerReferences(owner(m)).
		WithSpec(applyappsv1.DeploymentSpec().
			WithReplicas(ptr.Deref(m.Spec.Replicas, 1)).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels(m))).
			WithTemplate(applycorev1.PodTemplateSpec().
				WithLabels(labels(m)).
				WithSpec(applycorev1.PodSpec().
					WithAutomountServiceAccountToken(false).
					WithEnableServiceLinks(false).
					WithSecurityContext(applycorev1.PodSecurityContext().
						WithRunAsNonRoot(true).
						WithSeccompProfile(applycorev1.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
					WithContainers(container(m)))))
}

func container(m *Memcached) *applycorev1.ContainerApplyConfiguration {
	image := m.Spec.Image
	if image == "" {
		image = defaultImage
	}
	return applycorev1.Container().
		WithName(portName).
		WithImage(image).
		WithArgs("--memory-limit=64").
		WithPorts(applycorev1.ContainerPort().WithName(portName).WithContainerPort(port)).
		WithReadinessProbe(applycorev1.Probe().
			WithTCPSocket(applycorev1.TCPSocketAction().WithPort(intstr.FromString(portName))).
			WithPeriodSeconds(1)).
		WithResources(applycorev1.ResourceRequirements().
			WithRequests(corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
			}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("96Mi")})).
		WithSecurityContext(applycorev1.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(applycorev1.Capabilities().WithDrop("ALL")))
}
