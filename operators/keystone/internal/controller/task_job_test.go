package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// A ResourceQuota on limits.cpu admits no pod without such a limit.
func TestJobsKeepTheCPULimitOfTheSpec(t *testing.T) {
	for name, test := range map[string]struct {
		limits corev1.ResourceList
		want   string
	}{
		"one of the user":           {corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")}, "300m"},
		"a large one of the user":   {corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}, "4"},
		"none":                      {corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}, ""},
		"the default, which is low": {nil, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			k := fixture.Minimal()
			if test.limits != nil {
				k.Spec.Resources = &corev1.ResourceRequirements{Limits: test.limits}
			}
			before := k.DeepCopy()
			s := fixture.Scope(fixture.Installed(k))
			for what, template := range map[string]corev1.PodSpec{
				"db-sync":     jobOf(t, s, databaseTask(s, schema.TaskSync)).Spec.Template.Spec,
				"trust flush": trustFlush.CronJob(s.Pass, flushes(s)).Spec.JobTemplate.Spec.Template.Spec,
				"rotation":    keys.Fernet.Rotator(s).CronJob(k, "scripts").Spec.JobTemplate.Spec.Template.Spec,
			} {
				for _, container := range append(template.InitContainers, template.Containers...) {
					limit, set := container.Resources.Limits[corev1.ResourceCPU]
					if set != (test.want != "") || set && limit.String() != test.want {
						t.Errorf("%s: container %s has the CPU limit %s, want %q", what, container.Name, limit.String(), test.want)
					}
				}
			}
			if api := before.Spec.Resources.Limits.Cpu(); !api.Equal(*k.Spec.Resources.Limits.Cpu()) {
				t.Errorf("the CPU limit of the API pods changed from %s to %s", api, k.Spec.Resources.Limits.Cpu())
			}
		})
	}
}
