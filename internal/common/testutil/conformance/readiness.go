package conformance

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// readiness verifies that the API pods answer for themselves whether they can serve:
// without starting a program, on a port that no client is led to, and after looking for the
// tables of their database.
func (i *Instance[T]) readiness(mode) {
	deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
	expect.Exists(i.T, i.Admin, deploy)
	pod := deploy.Spec.Template.Spec
	container := pod.Containers[0]
	for name, probe := range map[string]*corev1.Probe{
		"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe,
	} {
		if probe == nil || probe.Exec != nil {
			i.Errorf("the %s probe is %+v, want one that starts no program", name, probe)
		}
	}
	ready := slices.IndexFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.Name == poddiag.ReadyPort })
	if ready < 0 || container.ReadinessProbe.HTTPGet == nil || container.ReadinessProbe.HTTPGet.Port.String() != poddiag.ReadyPort {
		i.Fatalf("the readiness probe is %+v, and the ports are %+v", container.ReadinessProbe, container.Ports)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
	expect.Exists(i.T, i.Admin, service)
	for _, port := range service.Spec.Ports {
		if target := port.TargetPort; target.StrVal == poddiag.ReadyPort || target.IntVal == container.Ports[ready].ContainerPort {
			i.Errorf("the Service leads to the port of the readiness probe: %+v", port)
		}
	}
	for _, volume := range pod.Volumes {
		if volume.Name == deployment.VolumeConfig {
			i.readyScript(configMapOf(volume))
		}
	}
}

// configMapOf returns the name of the ConfigMap with the configuration.
func configMapOf(volume corev1.Volume) string {
	if volume.ConfigMap != nil {
		return volume.ConfigMap.Name
	}
	for _, source := range volume.Projected.Sources {
		if source.ConfigMap != nil {
			return source.ConfigMap.Name
		}
	}
	return ""
}

// readyScript verifies that the program knows what to ask.
func (i *Instance[T]) readyScript(configMap string) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: configMap}}
	expect.Exists(i.T, i.Admin, settings)
	script := settings.Data[deployment.ReadyFile]
	constants := []string{"ADDRESS", "PORT"}
	if i.hasData() {
		constants = append(constants, "VARIABLE", "TABLE", "TABLES")
	}
	for _, constant := range constants {
		lines := strings.Split(script, "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, constant+" = ") })
		if at < 0 || strings.HasSuffix(lines[at], `""`) || strings.HasSuffix(lines[at], " 0") || strings.HasSuffix(lines[at], "[]") {
			i.Errorf("%s does not say what %s is", deployment.ReadyFile, constant)
		}
	}
}
