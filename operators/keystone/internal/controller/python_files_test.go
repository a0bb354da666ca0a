package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// cacheGuard is the file that makes the cache keys unique to the Keystone with the UID.
func cacheGuard(t *testing.T, uid types.UID) string {
	t.Helper()
	k := fixture.Minimal()
	k.UID = uid
	return filesOf(t, k)[cacheGuardFile]
}

func TestCacheKeysCarryTheUIDOfTheirKeystone(t *testing.T) {
	const one, other = "5f0b8f0e-6f5e-4c43-9d0e-0b6f4f1f4a11", "c1a4f1b2-90a7-4d6b-8a53-2d8f6b1d7e22"
	guard := cacheGuard(t, one)
	if want := "\nKEYSPACE = \"" + one + "\"\n"; strings.Count(guard, want) != 1 {
		t.Errorf("%s does not say %s once", cacheGuardFile, strings.TrimSpace(want))
	}
	if guard != cacheGuard(t, one) {
		t.Error("the file differs from pass to pass, which rolls the pods")
	}
	if guard == cacheGuard(t, other) {
		t.Error("a Keystone that is created again finds what the last one has cached")
	}
}

func TestARestoredDatabaseIsNotServedFromWhatWasCachedBefore(t *testing.T) {
	k := fixture.Minimal()
	seen := map[string]string{}
	for _, request := range []string{"", "2026-11-21T01:00:00Z", "2026-11-21T01:00:01Z", strings.Repeat("a long request with spaces ", 20)} {
		k.Annotations = map[string]string{keystonev1alpha1.AnnotationRunAgain: request}
		_, keyspace, _ := strings.Cut(filesOf(t, k)[cacheGuardFile], "\nKEYSPACE = ")
		keyspace, _, _ = strings.Cut(keyspace, "\n")
		if len(keyspace) > 80 || strings.Contains(keyspace, " ") {
			t.Errorf("%q makes the keyspace %s, and memcached takes 250 bytes without spaces for a key", request, keyspace)
		}
		if other, known := seen[keyspace]; known {
			t.Errorf("%q and %q have the keyspace %s", request, other, keyspace)
		}
		seen[keyspace] = request
	}
}

func TestTheCacheGuardKnowsTheServiceOfAManagedCache(t *testing.T) {
	brownfield, k := fixture.Minimal(), fixture.Managed()
	for _, test := range []struct {
		keystone *keystonev1alpha1.Keystone
		want     string
	}{
		{k, fmt.Sprintf("\nSERVICE = \"%s.%s.svc.k8s.example:11211\"\n", k.Spec.Cache.ClusterRef.Name, k.Namespace)},
		{brownfield, "\nSERVICE = \"\"\n"},
	} {
		s := fixture.Scope(test.keystone)
		s.Cluster = cluster.Settings{Domain: "k8s.example"}
		_, files := rendered(t, s, nil)
		if strings.Count(files[cacheGuardFile], test.want) != 1 {
			t.Errorf("%s does not say %s once", cacheGuardFile, strings.TrimSpace(test.want))
		}
	}
}

// test_forge_errors.py tests what the files do.
func TestErrorResponsesAreHandledWithAndWithoutMiddleware(t *testing.T) {
	filtered := fixture.Minimal()
	filtered.Spec.Middleware = fixture.Managed().Spec.Middleware
	for _, k := range []*keystonev1alpha1.Keystone{fixture.Minimal(), filtered} {
		files := filesOf(t, k)
		if !strings.Contains(files[errorsFile], "\ndef answering(application):\n") {
			t.Errorf("%s does not have what is put around the application", errorsFile)
		}
		if want := "\nMODULES = [\"forge_start\"]\n"; strings.Count(files[database.StartFile], want) != 1 {
			t.Errorf("%s does not say %s", database.StartFile, strings.TrimSpace(want))
		}
		if !strings.Contains(files[startFile], "\n    from forge_errors import answering\n") {
			t.Errorf("%s does not put it around Keystone's application", startFile)
		}
		if len(k.Spec.Middleware) > 0 && !strings.HasSuffix(files[middlewareFile], "\napplication = answering(application)\n") {
			t.Errorf("%s does not put it around the filters", middlewareFile)
		}
	}
}

// test_forge_start.py tests what the file does with it.
func TestTheStartFileKnowsWhetherUWSGIUsesThreads(t *testing.T) {
	for threads, want := range map[int32]string{0: "False", 1: "False", 2: "True"} {
		k := fixture.Minimal()
		if threads > 0 {
			k.Spec.UWSGI = &commonv1.UWSGISpec{Processes: 2, Threads: threads}
		}
		files := filesOf(t, k)
		if want := "\nSEVERAL_THREADS = " + want + "\n"; strings.Count(files[startFile], want) != 1 {
			t.Errorf("with %d threads, %s does not say %s", threads, startFile, strings.TrimSpace(want))
		}
	}
}

// test_forge_start.py tests which Keystones get another method.
func TestTheStartFileContainsTheDefaultAuthMethods(t *testing.T) {
	for _, federation := range []*keystonev1alpha1.FederationSpec{nil, {Enabled: true}} {
		k := fixture.Minimal()
		k.Spec.Federation = federation
		want := fmt.Sprintf("\nMETHODS = %q\n", optionsOf(t, k)["auth"]["methods"])
		if strings.Count(filesOf(t, k)[startFile], want) != 1 {
			t.Errorf("%s does not say %s", startFile, strings.TrimSpace(want))
		}
	}
}

// The groups are those of the entry points of Keystone 27.0, of which each manager that
// keystone.server.backends makes loads one.
func TestEveryDriverLoadedAtStartupIsChecked(t *testing.T) {
	var groups []string
	for _, driver := range drivers {
		groups = append(groups, driver.Group)
	}
	want := []string{
		"keystone.application_credential", "keystone.assignment", "keystone.catalog", "keystone.credential",
		"keystone.credential.provider", "keystone.endpoint_policy", "keystone.federation", "keystone.identity",
		"keystone.identity.id_generator", "keystone.identity.id_mapping", "keystone.identity.shadow_users", "keystone.oauth1",
		"keystone.policy", "keystone.receipt.provider", "keystone.resource", "keystone.resource.domain_config", "keystone.revoke",
		"keystone.role", "keystone.token.provider", "keystone.trust", "keystone.unified_limit",
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(groups))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if check := filesOf(t, fixture.Minimal())[serviceconfig.CheckFile]; !strings.Contains(check, "[\"trust\",\"driver\",\"keystone.trust\"]") {
		t.Errorf("%s does not look up drivers", serviceconfig.CheckFile)
	}
}

// keystonesCode returns the templates of pods that run Keystone's code.
func keystonesCode(t *testing.T, s *pass.Scope) map[string]corev1.PodTemplateSpec {
	t.Helper()
	migrate, err := keys.MigrateJob(s, map[string][]byte{"0": []byte("a"), "1": []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	templates := map[string]corev1.PodTemplateSpec{
		"API":         api.Deployment(s).Spec.Template,
		"trust flush": trustFlush.CronJob(s.Pass, flushes(s)).Spec.JobTemplate.Spec.Template,
		"migrate":     migrate.Spec.Template,
	}
	for name, f := range map[string]keys.Family{"fernet": keys.Fernet, "credential": keys.Credential} {
		templates["rotation of "+name] = f.Rotator(s).CronJob(s.Resource, "scripts").Spec.JobTemplate.Spec.Template
	}
	tasks := keystoneSchema.Tasks(s.Pass)
	tasks["bootstrap"], tasks["config-check"] = bootstrapTask(s), settings.CheckTask(s)
	for name, described := range tasks {
		templates[name] = jobOf(t, s, described).Spec.Template
	}
	return templates
}

// configOf returns the volume mounted where the pods read their configuration.
func configOf(template corev1.PodTemplateSpec) corev1.VolumeSource {
	mounts := template.Spec.Containers[0].VolumeMounts
	at := slices.IndexFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == pass.ConfigDir })
	if at < 0 {
		return corev1.VolumeSource{}
	}
	volume := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mounts[at].Name })
	if volume < 0 {
		return corev1.VolumeSource{}
	}
	return template.Spec.Volumes[volume].VolumeSource
}

func TestEveryPodThatRunsKeystonesCodeReadsItsConfiguration(t *testing.T) {
	s := fixture.Scope(fixture.Installed(fixture.Minimal()))
	for name, template := range keystonesCode(t, s) {
		if !slices.Contains(template.Spec.Containers[0].Env, corev1.EnvVar{Name: "PYTHONPATH", Value: pass.ConfigDir}) {
			t.Errorf("%s: Python does not find what is in %s", name, pass.ConfigDir)
		}
		if got := configOf(template).ConfigMap; got == nil || got.Name != service.Config.Value(s.Slots).ConfigMap {
			t.Errorf("%s: another volume than the configuration is mounted at %s: %v", name, pass.ConfigDir, got)
		}
	}
}
