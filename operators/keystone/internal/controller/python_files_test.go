package controller

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cacheGuard is what makes the keys in the cache those of the Keystone with the
// given UID.
func cacheGuard(t *testing.T, uid types.UID) string {
	t.Helper()
	k := minimal()
	k.UID = uid
	files, err := configFiles(k, keystoneOptions(k, false), nil)
	if err != nil {
		t.Fatal(err)
	}
	return files[cacheGuardFile]
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

func TestEveryPodThatRunsKeystonesCodeReadsItsConfiguration(t *testing.T) {
	s := scopeOf(installed(minimal()))
	migrate, err := migrateJob(s, map[string][]byte{"0": []byte("a"), "1": []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	templates := map[string]corev1.PodTemplateSpec{
		"API":         apiDeployment(s.keystone, s.configMap, s.connectionHash).Spec.Template,
		"trust flush": trustFlushCronJob(s).Spec.JobTemplate.Spec.Template,
		"migrate":     migrate.Spec.Template,
	}
	for name, f := range families {
		templates["rotation of "+name] = f.rotator(s).cronJob(s.keystone, "scripts").Spec.JobTemplate.Spec.Template
	}
	for _, described := range []task{
		dbSync(s), schemaCheck(s), bootstrapTask(s), loginCheck(s), dbExpand(s), dbMigrate(s), dbContract(s), configCheckTask(s),
	} {
		templates[described.name] = jobOf(t, s, described).Spec.Template
	}
	for name, template := range templates {
		container := template.Spec.Containers[0]
		if !slices.Contains(container.Env, corev1.EnvVar{Name: "PYTHONPATH", Value: configDir}) {
			t.Errorf("%s: Python does not find what is in %s", name, configDir)
		}
		at := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == configDir })
		if at < 0 {
			t.Errorf("%s: nothing is mounted at %s", name, configDir)
			continue
		}
		volume := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == container.VolumeMounts[at].Name })
		if volume < 0 || template.Spec.Volumes[volume].ConfigMap == nil || template.Spec.Volumes[volume].ConfigMap.Name != s.configMap {
			t.Errorf("%s: another volume than the configuration is mounted at %s", name, configDir)
		}
	}
}
