package controller

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// apiDeployment builds the Deployment of the API pods.
func apiDeployment(s *scope) *appsv1.Deployment {
	k := s.keystone
	volumes, volumeMounts := split(apiMounts(s))
	container := apiContainer(k)
	container.VolumeMounts = volumeMounts
	deploy := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Labels: commonLabels(k)},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selectorLabels(k)},
			Strategy: rolloutStrategy(k),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      commonLabels(k),
					Annotations: map[string]string{annotationConnectionHash: s.connectionHash()},
				},
				Spec: corev1.PodSpec{
					ImagePullSecrets:              k.Spec.ImagePullSecrets,
					Volumes:                       volumes,
					Containers:                    []corev1.Container{container},
					SecurityContext:               podSecurity(),
					AutomountServiceAccountToken:  ptr.To(false),
					EnableServiceLinks:            ptr.To(false),
					TerminationGracePeriodSeconds: ptr.To(k.Spec.TerminationGracePeriod()),
					TopologySpreadConstraints:     spreadConstraints(k),
					PriorityClassName:             ptr.Deref(k.Spec.PriorityClassName, ""),
				},
			},
		},
	}
	if k.Spec.Autoscaling == nil {
		deploy.Spec.Replicas = ptr.To(k.Spec.Replicas)
	}
	return deploy
}

func apiMounts(s *scope) []mount {
	mounts := append([]mount{s.configMount()}, keyMounts(s.keystone)...)
	return append(mounts, databaseTLSMounts(s.keystone)...)
}

func apiContainer(k *keystonev1alpha1.Keystone) corev1.Container {
	return corev1.Container{
		Name:    containerName,
		Image:   image(k),
		Command: uwsgiCommand(k),
		Ports: []corev1.ContainerPort{{
			Name: containerName, ContainerPort: apiPort, Protocol: corev1.ProtocolTCP,
		}},
		Env:             append([]corev1.EnvVar{connectionVariable(k), pythonVariable()}, shutdownVariables()...),
		Resources:       ptr.Deref(k.Spec.Resources, corev1.ResourceRequirements{}),
		StartupProbe:    startupProbe(),
		LivenessProbe:   livenessProbe(),
		ReadinessProbe:  readinessProbe(),
		Lifecycle:       drainHook(k),
		SecurityContext: restrictedContainer(),
		// A container that cannot start explains itself in its last log lines.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// uwsgiCommand is the command line of the API server. The parameters of the
// spec were defaulted; without a uwsgi block the defaults apply here.
func uwsgiCommand(k *keystonev1alpha1.Keystone) []string {
	entry := wsgiFile
	if len(k.Spec.Middleware) > 0 {
		entry = configDir + middlewareFile
	}
	spec := k.Spec.UWSGI
	if spec == nil {
		spec = &commonv1.UWSGISpec{
			Processes: commonv1.DefaultUWSGIProcesses, Threads: commonv1.DefaultUWSGIThreads,
		}
	}
	command := []string{"uwsgi", "--http", ":" + strconv.Itoa(apiPort)}
	if ptr.Deref(spec.HTTPKeepAlive, commonv1.DefaultUWSGIHTTPKeepAlive) {
		// uWSGI takes the idle timeout as the value of the flag itself.
		flag := "--http-keepalive"
		if spec.HTTPKeepAliveTimeout != nil {
			flag += "=" + strconv.Itoa(int(*spec.HTTPKeepAliveTimeout))
		}
		command = append(command, flag)
	}
	command = append(command,
		"--log-master",
		"--log-format", "%(method) %(uri) => generated %(rsize) bytes in %(msecs) msecs (%(proto) %(status))",
		"--wsgi-file", entry,
		"--master", "--lazy-apps", "--need-app",
		"--processes", strconv.Itoa(int(spec.Processes)),
		"--threads", strconv.Itoa(int(spec.Threads)),
		"--pyargv=--config-dir="+configDir,
	)
	if spec.Harakiri != nil {
		command = append(command, "--harakiri", strconv.Itoa(int(*spec.Harakiri)))
	}
	return command
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

// rolloutStrategy never lets capacity drop below the wanted replicas unless
// the spec says otherwise.
func rolloutStrategy(k *keystonev1alpha1.Keystone) appsv1.DeploymentStrategy {
	if k.Spec.Strategy != nil {
		return *k.Spec.Strategy
	}
	return appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: ptr.To(intstr.FromInt32(0)), MaxSurge: ptr.To(intstr.FromInt32(1)),
		},
	}
}

// spreadConstraints spread the pods over zones and nodes. An empty list in the
// spec means none, an absent one the defaults.
func spreadConstraints(k *keystonev1alpha1.Keystone) []corev1.TopologySpreadConstraint {
	if k.Spec.TopologySpreadConstraints != nil {
		return k.Spec.TopologySpreadConstraints
	}
	constraints := make([]corev1.TopologySpreadConstraint, 0, 2)
	for _, topology := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: selectorLabels(k)},
		})
	}
	return constraints
}
