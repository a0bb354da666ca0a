package controller

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestEveryTLSModeThatPromisesEncryptionRefusesPlainText(t *testing.T) {
	for mode, want := range map[commonv1.DatabaseTLSMode]bool{
		commonv1.DatabaseTLSPrefer: false, commonv1.DatabaseTLSRequire: true,
		commonv1.DatabaseTLSVerifyCA: true, commonv1.DatabaseTLSVerifyFull: true,
	} {
		k := fixture.Managed()
		k.Spec.Database.TLS.Mode = mode
		files := filesOf(t, k)
		if guarded := strings.Contains(files[database.StartFile], "REQUIRE_TLS = True"); guarded != want {
			t.Errorf("%s: a connection in plain text is refused: %t, want %t", mode, guarded, want)
		}
	}
}

func TestEveryPodThatOpensTheDatabaseCanReadItsCertificates(t *testing.T) {
	s := fixture.Scope(fixture.Managed())
	templates := map[string]corev1.PodTemplateSpec{
		"API":         api.Deployment(s).Spec.Template,
		"trust flush": trustFlush.CronJob(s.Pass, flushes(s)).Spec.JobTemplate.Spec.Template,
	}
	for _, described := range []deployment.Task{databaseTask(s, schema.TaskSync), databaseTask(s, schema.TaskCheck), bootstrapTask(s)} {
		built, err := deployment.TaskJob(s.Pass, described)
		if err != nil {
			t.Fatal(err)
		}
		templates[described.Name] = built.Spec.Template
	}
	for name, template := range templates {
		pod, container := template.Spec, template.Spec.Containers[0]
		for _, variable := range []string{"OS_DATABASE__CONNECTION", "PYTHONPATH"} {
			if !slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == variable }) {
				t.Errorf("%s: the container has no %s", name, variable)
			}
		}
		if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.Name == "db-tls" && m.MountPath == "/etc/keystone/db-tls"
		}) {
			t.Errorf("%s: the certificates are not mounted", name)
		}
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "db-tls" })
		if volume < 0 || ptr.Deref(pod.Volumes[volume].Projected.DefaultMode, 0) != 0o400 {
			t.Errorf("%s: the certificates are readable for others than their user", name)
		}
		if ptr.Deref(pod.SecurityContext.FSGroup, 0) != pass.Definition.UserID {
			t.Errorf("%s: the certificates do not belong to the user of the process", name)
		}
	}
}

func TestRequiringTLSRunsTheSchemaCheckAgain(t *testing.T) {
	keys := map[string]bool{}
	for _, mode := range []commonv1.DatabaseTLSMode{commonv1.DatabaseTLSPrefer, commonv1.DatabaseTLSRequire} {
		k := fixture.Managed()
		k.Spec.Database.TLS.Mode = mode
		s := fixture.Scope(k)
		built, err := deployment.TaskJob(s.Pass, databaseTask(s, schema.TaskCheck))
		if err != nil {
			t.Fatal(err)
		}
		keys[built.Annotations[job.RunKeyAnnotation]] = true
	}
	if len(keys) != 2 {
		t.Error("the change from prefer to require does not run the schema check again")
	}
}
