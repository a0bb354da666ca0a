package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// settled returns a pass over an instance with settings of its pods.
func settled(t *testing.T) *service.Pass {
	t.Helper()
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	p.Spec.PodSettings = commonv1.PodSettings{
		NodeSelector: map[string]string{"role": "infra"},
		Tolerations:  []corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}},
		Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{},
		},
		RuntimeClassName:   ptr.To("gvisor"),
		HostAliases:        []corev1.HostAlias{{IP: "192.0.2.10", Hostnames: []string{"ldap"}}},
		PodLabels:          map[string]string{"team": "identity"},
		PodAnnotations:     map[string]string{"example.com/scrape": "true", "sidecar.istio.io/inject": "true"},
		ServiceAnnotations: map[string]string{"example.com/zone": "a"},
		ExtraEnv:           []corev1.EnvVar{{Name: "EXTRA", Value: "1"}, {Name: "HARBOUR", Value: "closed"}},
		ExtraVolumes: []commonv1.ExtraVolume{
			{Name: "ca", MountPath: "/extra", ConfigMap: &commonv1.VolumeFiles{Name: "corporate-ca"}},
			{Name: "token", MountPath: "/token", Secret: &commonv1.VolumeFiles{Name: "token"}},
			{Name: "data", MountPath: "/data", PersistentVolumeClaim: &corev1.LocalObjectReference{Name: "data"}},
		},
	}
	return p
}

func TestEveryPodHasTheSettingsOfTheSpec(t *testing.T) {
	p := settled(t)
	job, err := TaskJob(p, Task{Name: "db-sync", Container: "db-sync", Env: p.Environment})
	if err != nil {
		t.Fatal(err)
	}
	api := API[*service.Pass]{}.Deployment(p).Spec.Template
	for name, template := range map[string]corev1.PodTemplateSpec{"API": api, "Job": job.Spec.Template} {
		pod, want := template.Spec, p.Spec.PodSettings
		if diff := cmp.Diff(
			[]any{want.NodeSelector, want.Tolerations, want.HostAliases, want.RuntimeClassName, "identity", "true"},
			[]any{
				pod.NodeSelector, pod.Tolerations, pod.HostAliases, pod.RuntimeClassName,
				template.Labels["team"], template.Annotations["example.com/scrape"],
			},
		); diff != "" {
			t.Errorf("settings of the pods of the %s (-want +got):\n%s", name, diff)
		}
		hasExtras(t, name, pod.Containers[0])
	}
	if api.Spec.Affinity != p.Spec.Affinity {
		t.Errorf("the API pods have the affinity %v", api.Spec.Affinity)
	}
	if got := job.Spec.Template.Spec.Affinity; got.NodeAffinity == nil || got.PodAntiAffinity != nil {
		t.Errorf("the pods of a Job have the affinity %v, expected that of nodes alone", got)
	}
	if api.Annotations["sidecar.istio.io/inject"] != "true" || job.Spec.Template.Annotations["sidecar.istio.io/inject"] != "false" {
		t.Error("only the API pods may be in a mesh")
	}
}

// hasExtras fails the test unless the container has the volumes and variables of the spec.
func hasExtras(t *testing.T, name string, container corev1.Container) {
	t.Helper()
	got := map[string]string{}
	for _, mount := range container.VolumeMounts {
		got[mount.Name] = mount.MountPath
	}
	if got["extra-ca"] != "/extra" || got["extra-token"] != "/token" || got["extra-data"] != "/data" {
		t.Errorf("%s mounts %v", name, got)
	}
	env := map[string]string{}
	for _, variable := range container.Env {
		if _, twice := env[variable.Name]; twice {
			t.Errorf("%s has variable %s twice", name, variable.Name)
		}
		env[variable.Name] = variable.Value
	}
	if env["EXTRA"] != "1" || env["HARBOUR"] != "open" {
		t.Errorf("%s has the variables %v", name, env)
	}
}

func TestOnlyAClaimIsMountedWritable(t *testing.T) {
	for _, mount := range withExtras(corev1.Container{}, settled(t).Spec.PodSettings).VolumeMounts {
		if mount.ReadOnly == (mount.Name == "extra-data") {
			t.Errorf("%s is mounted with readOnly %t", mount.Name, mount.ReadOnly)
		}
	}
}
