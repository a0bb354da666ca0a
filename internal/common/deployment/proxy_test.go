package deployment

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestAProxyHasThePortOfTheAPIAndUWSGIListensOnLoopbackOnly(t *testing.T) {
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	api := API[*service.Pass]{Proxy: func(*service.Pass) *Proxy {
		return &Proxy{
			Container: corev1.Container{Name: "proxy", Image: "proxy:1"},
			Mounts:    []Mount{ScratchMount("run", "/run/proxy", resource.MustParse("1Mi"))},
		}
	}}
	pod := api.Deployment(p).Spec.Template.Spec
	main, proxy := pod.Containers[0], pod.Containers[1]
	if listens := main.Command[slices.Index(main.Command, "--socket")+1]; listens != "127.0.0.1:7001" {
		t.Errorf("uWSGI listens on %s", listens)
	}
	if slices.Contains(main.Command, "--http") || len(main.Ports) != 1 || main.Ports[0].Name != "ready" {
		t.Errorf("uWSGI runs %v with the ports %v", main.Command, main.Ports)
	}
	if main.LivenessProbe.TCPSocket.Port.IntVal != 8081 || proxy.LivenessProbe.TCPSocket.Port.IntVal != p.Port {
		t.Errorf("the probes are %v and %v", main.LivenessProbe.TCPSocket, proxy.LivenessProbe.TCPSocket)
	}
	if proxy.Ports[0].ContainerPort != p.Port || proxy.SecurityContext == nil || proxy.Lifecycle == nil {
		t.Errorf("the proxy is %+v", proxy)
	}
	if last := pod.Volumes[len(pod.Volumes)-1]; last.Name != "run" || proxy.VolumeMounts[0].Name != "run" || len(proxy.VolumeMounts) != 1 {
		t.Errorf("the volumes are %v, those of the proxy %v", pod.Volumes, proxy.VolumeMounts)
	}
}
