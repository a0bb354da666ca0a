package deployment

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/service"
)

// Proxy is a container of the API pods through which all requests go. It passes them on to uWSGI, in
// uWSGI's own protocol, at [ProxiedPort] of the loopback address. What it adds to a request are variables
// that no header of a client can set.
type Proxy struct {
	// Container has a name, an image, a command and resources. Its image has /bin/sh with sleep and touch.
	Container corev1.Container
	// Mounts are its volumes, which no other container has.
	Mounts []Mount
}

// ProxiedPort returns the port of uWSGI behind a proxy.
func ProxiedPort(p *service.Pass) int32 { return p.Port + 1 }

// DrainMarker returns the file that exists in all containers of a pod from when it is about to stop.
func DrainMarker(p *service.Pass) string { return drainMarker(p.CodeName) }

// join adds the container to the pod, whose port it takes over from the API. Both containers stop once no
// request is in flight.
func (y *Proxy) join(p *service.Pass, pod *corev1.PodSpec) {
	api := &pod.Containers[0]
	api.Ports, api.LivenessProbe = []corev1.ContainerPort{readyPort}, livenessProbe(readyPort.ContainerPort)
	container := y.Container
	container.Ports = []corev1.ContainerPort{{Name: p.CodeName, ContainerPort: p.Port, Protocol: corev1.ProtocolTCP}}
	container.LivenessProbe = livenessProbe(p.Port)
	container.Lifecycle = DrainHook(p.CodeName, p.Spec.PreStopSleep())
	for _, m := range y.Mounts {
		pod.Volumes = append(pod.Volumes, m.Volume)
	}
	pod.Containers = append(pod.Containers, PodsOf(p).Container(container, y.Mounts...))
}
