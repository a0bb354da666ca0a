package controller

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// apiDeployment builds the Deployment of the API pods.
func apiDeployment(s *scope) *appsv1.Deployment {
	k := s.keystone
	pod := deployment.PodsOf(s.Pass).Spec(apiContainer(s), apiMounts(s)...)
	pod.TerminationGracePeriodSeconds = ptr.To(k.ServiceSpec().TerminationGracePeriod())
	pod.TopologySpreadConstraints = deployment.InstanceOf(s.Pass).SpreadConstraints(k.Spec.TopologySpreadConstraints)
	deploy := &appsv1.Deployment{
		ObjectMeta: deployment.InstanceOf(s.Pass).Meta(),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selectorLabels(k)},
			Strategy: deployment.RolloutStrategy(k.Spec.Strategy),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      commonLabels(k),
					Annotations: map[string]string{database.HashAnnotation(&definition): database.Connection.Value(s.Slots).Hash()},
				},
				Spec: pod,
			},
		},
	}
	if k.Spec.Autoscaling == nil {
		deploy.Spec.Replicas = ptr.To(k.Spec.Replicas)
	}
	return deploy
}

func apiMounts(s *scope) []deployment.Mount {
	mounts := append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, keyMounts(s.keystone)...)
	return append(mounts, database.TLSMounts(s.Pass)...)
}

func apiContainer(s *scope) corev1.Container {
	k := s.keystone
	return corev1.Container{
		Name:    containerName,
		Image:   image(k),
		Command: wsgi(k).Command(k.Spec.UWSGI),
		Ports: []corev1.ContainerPort{{
			Name: containerName, ContainerPort: apiPort, Protocol: corev1.ProtocolTCP,
		}},
		Env: slices.Concat(
			[]corev1.EnvVar{keystoneDatabase.APIEnv(s.Pass)}, s.Environment, deployment.DrainVariables(definition.Name)),
		Resources:      ptr.Deref(k.Spec.Resources, corev1.ResourceRequirements{}),
		StartupProbe:   startupProbe(),
		LivenessProbe:  livenessProbe(),
		ReadinessProbe: readinessProbe(),
		Lifecycle:      deployment.DrainHook(definition.Name, k.ServiceSpec().PreStopSleep()),
	}
}

// wsgi is the application that the API pods serve.
func wsgi(k *keystonev1alpha1.Keystone) deployment.UWSGI {
	entry := wsgiFile
	if len(k.Spec.Middleware) > 0 {
		entry = configDir + middlewareFile
	}
	return deployment.UWSGI{Port: apiPort, File: entry, Arguments: "--config-dir=" + configDir}
}

// startupProbe gives a pod five minutes to answer first and looks every second,
// because most answer within three.
func startupProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/v3", Port: intstr.FromInt32(apiPort), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds: 1, FailureThreshold: 300, TimeoutSeconds: 5, SuccessThreshold: 1,
	}
}

func livenessProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(apiPort)}},
		InitialDelaySeconds: 15, PeriodSeconds: 20, FailureThreshold: 3, TimeoutSeconds: 1, SuccessThreshold: 1,
	}
}

// readinessProbe takes a pod out of service within half a minute of losing its
// database, two periods and a timeout at worst, and back once both answer again.
// The script reads the database's URL from the same variable as Keystone, and says
// in one line without the password what failed. Python's own words, which may quote
// it, go nowhere. A run costs 0.1 s of CPU time.
func readinessProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: []string{"/bin/sh", "-c", "exec python3 " + configDir + readyFile + " 2>/dev/null"},
		}},
		PeriodSeconds: 10, FailureThreshold: 2, TimeoutSeconds: 9, SuccessThreshold: 1,
	}
}
