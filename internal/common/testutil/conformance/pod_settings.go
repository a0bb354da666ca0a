package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// podSettings verifies that all pods get the settings of the spec, that a change of them
// repeats no Job, and that they are gone when they are not set any more.
func (s suite[T]) podSettings(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	spec := i.Resource.ServiceSpec()
	spec.PodSettings = everyPodSetting()
	// Their checks are Jobs, too.
	if options := i.optionsSpec(); options != nil {
		options.ExtraConfig = map[string]map[string]string{"DEFAULT": {"debug": "true"}}
		options.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"a:b": "role:reader"}}
	}
	i.Create()
	i.missingPodInputs()
	i.Ready()
	i.settle()
	for name, template := range i.templates() {
		i.hasSettings(name, template)
		i.refusesCollisions(name, template)
	}
	i.annotated("Service", "example.com/zone", "a")
	i.annotated("ServiceAccount", "example.com/role", "rotator")

	jobs := i.jobs()
	i.change(func(spec *commonv1.ServiceSpec) { spec.PodLabels = map[string]string{"team": "platform"} })
	i.Ready()
	deploy := i.deployment()
	expect.Exists(t, s.Admin, deploy)
	if got := deploy.Spec.Template.Labels["team"]; got != "platform" {
		t.Errorf("the API pods have the label %q", got)
	}
	i.change(func(spec *commonv1.ServiceSpec) { spec.PodSettings = commonv1.PodSettings{} })
	i.Ready()
	i.hasNoSettings()
	i.annotated("Service", "example.com/zone", "")
	i.annotated("ServiceAccount", "example.com/role", "")
	if diff := cmp.Diff(jobs, i.jobs()); diff != "" {
		t.Errorf("Jobs ran again for other settings of pods (-before +after):\n%s", diff)
	}
	i.settle()
}

// everyPodSetting returns settings of every kind but the RuntimeClass, which the API server of
// tests does not serve.
func everyPodSetting() commonv1.PodSettings {
	affinity := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "rack", Operator: corev1.NodeSelectorOpExists},
		}}},
	}}
	return commonv1.PodSettings{
		NodeSelector:   map[string]string{"role": "infra"},
		Tolerations:    []corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}},
		Affinity:       &corev1.Affinity{NodeAffinity: affinity},
		HostAliases:    []corev1.HostAlias{{IP: "192.0.2.10", Hostnames: []string{"ldap"}}},
		PodLabels:      map[string]string{"team": "identity", "sidecar.istio.io/inject": "true"},
		PodAnnotations: map[string]string{"example.com/scrape": "true", "linkerd.io/inject": "enabled"},

		ServiceAnnotations:        map[string]string{"example.com/zone": "a"},
		ServiceAccountAnnotations: map[string]string{"example.com/role": "rotator"},

		ExtraEnv: []corev1.EnvVar{{Name: "EXTRA", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "extra"}, Key: "token",
		}}}},
		ExtraVolumes: []commonv1.ExtraVolume{{Name: "ca", MountPath: "/extra", ConfigMap: &commonv1.VolumeFiles{Name: "corporate-ca"}}},
	}
}

// missingPodInputs creates what the settings refer to, one after another.
func (i *Instance[T]) missingPodInputs() {
	i.Helper()
	const condition, reason = vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForPodInputs
	i.Fails(condition, reason, "ConfigMap corporate-ca of spec.extraVolumes[0].configMap does not exist", "create it")
	objects.Create(i.T, i.Admin, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "corporate-ca"}})
	i.Fails(condition, reason, "Secret extra of spec.extraEnv[0].valueFrom.secretKeyRef does not exist", "create it")
	objects.Create(i.T, i.Admin, i.secret("extra", map[string]string{"other": "value"}))
	i.Fails(condition, reason, "Secret extra of spec.extraEnv[0].valueFrom.secretKeyRef lacks token", "add it")
	if runs := len(i.Jobs.Runs(i.namespace(), i.name()+"-db-sync")); runs != 0 {
		i.Errorf("%d Jobs ran whose pods cannot start", runs)
	}
	i.setSecret("extra", map[string]string{"token": "value"})
}

// templates returns the templates of all pods of the instance.
func (i *Instance[T]) templates() map[string]corev1.PodTemplateSpec {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	all := map[string]corev1.PodTemplateSpec{"the Deployment": deploy.Spec.Template}
	var jobs batchv1.JobList
	var cronJobs batchv1.CronJobList
	for _, list := range []client.ObjectList{&jobs, &cronJobs} {
		if err := i.Admin.List(i.Context(), list, client.InNamespace(i.namespace())); err != nil {
			i.Fatal(err)
		}
	}
	for _, job := range jobs.Items {
		all["Job "+job.Name] = job.Spec.Template
	}
	for _, cronJob := range cronJobs.Items {
		all["CronJob "+cronJob.Name] = cronJob.Spec.JobTemplate.Spec.Template
	}
	return all
}

// hasSettings fails the test unless pods with the template have the settings of the spec.
func (i *Instance[T]) hasSettings(name string, template corev1.PodTemplateSpec) {
	i.Helper()
	pod, want := template.Spec, i.Resource.ServiceSpec().PodSettings
	if diff := cmp.Diff(commonv1.PodSettings{
		NodeSelector: want.NodeSelector, Tolerations: want.Tolerations, Affinity: want.Affinity, HostAliases: want.HostAliases,
	}, commonv1.PodSettings{
		NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations, Affinity: pod.Affinity, HostAliases: pod.HostAliases,
	}); diff != "" {
		i.Errorf("%s (-want +got):\n%s", name, diff)
	}
	mesh := name == "the Deployment"
	if template.Labels["team"] != "identity" || template.Annotations["example.com/scrape"] != "true" ||
		(template.Labels["sidecar.istio.io/inject"] == "true") != mesh || (template.Annotations["linkerd.io/inject"] == "enabled") != mesh {
		i.Errorf("%s has the labels %v and the annotations %v", name, template.Labels, template.Annotations)
	}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		mounts, env := fmt.Sprint(container.VolumeMounts), fmt.Sprint(container.Env)
		if !strings.Contains(mounts, "/extra") || !strings.Contains(env, "EXTRA") {
			i.Errorf("container %s of %s has the mounts %s and the variables %s", container.Name, name, mounts, env)
		}
	}
}

// refusesCollisions fails the test unless users can take no directory and no variable that
// a container has from the operator.
func (i *Instance[T]) refusesCollisions(name string, template corev1.PodTemplateSpec) {
	i.Helper()
	table := commonv1.PodRules("spec", i.Definition.CodeName, func(s *commonv1.PodSettings) *commonv1.PodSettings { return s })
	for _, container := range append(template.Spec.InitContainers, template.Spec.Containers...) {
		for _, mount := range container.VolumeMounts {
			taken := &commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{{
				Name: "other", MountPath: strings.TrimSuffix(mount.MountPath, "/"), ConfigMap: &commonv1.VolumeFiles{Name: "a"},
			}}}
			if mount.MountPath != "/extra" && len(table.Validate(taken)) == 0 {
				i.Errorf("users can mount a volume at %s of container %s of %s", mount.MountPath, container.Name, name)
			}
		}
		for _, variable := range container.Env {
			taken := &commonv1.PodSettings{ExtraEnv: []corev1.EnvVar{{Name: variable.Name}}}
			if variable.Name != "EXTRA" && len(table.Validate(taken)) == 0 {
				i.Errorf("users can set %s in container %s of %s", variable.Name, container.Name, name)
			}
		}
	}
}

// annotated fails the test unless the children of the kind have the annotation with the
// value, "" for none.
func (i *Instance[T]) annotated(kind, annotation, want string) {
	i.Helper()
	for _, child := range i.children() {
		if child.Kind == kind && child.Annotations[annotation] != want {
			i.Errorf("%s has the annotations %v, expected %s=%q", child, child.Annotations, annotation, want)
		}
	}
}

// hasNoSettings fails the test if something of the settings is left in the pods.
func (i *Instance[T]) hasNoSettings() {
	i.Helper()
	left := i.templates()
	maps.DeleteFunc(left, func(name string, _ corev1.PodTemplateSpec) bool { return strings.HasPrefix(name, "Job ") })
	text, err := json.Marshal(left)
	if err != nil {
		i.Fatal(err)
	}
	for _, setting := range []string{
		`"infra"`, `"rack"`, "192.0.2.10", `"team"`, "example.com/", `"enabled"`, "EXTRA", "corporate-ca",
	} {
		if strings.Contains(string(text), setting) {
			i.Errorf("%s is left in the Deployment or a CronJob", setting)
		}
	}
}
