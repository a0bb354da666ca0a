package keys

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

var families = map[string]Family{"fernet": Fernet, "credential": Credential}

func TestRotationObjectsMatchTheirGoldenFiles(t *testing.T) {
	for name, k := range map[string]*keystonev1alpha1.Keystone{"minimal": fixture.Minimal(), "managed": fixture.Managed()} {
		s := fixture.Scope(fixture.Installed(k))
		for family, f := range families {
			r := f.Rotator(s)
			t.Run(name+"/"+family, func(t *testing.T) {
				golden.CompareYAML(t, name+"/cronjob-"+r.Name+".yaml", r.CronJob(k, r.ScriptBase(k)+"-01234567"))
				if name == "minimal" {
					golden.CompareYAML(t, name+"/access-"+r.Name+".yaml", r.Access(k).Objects())
				}
			})
		}
		t.Run(name+"/migrate", func(t *testing.T) {
			built, err := MigrateJob(s, map[string][]byte{"0": []byte("a"), "1": []byte("b")})
			if err != nil {
				t.Fatal(err)
			}
			golden.CompareYAML(t, name+"/job-credential-migrate.yaml", built)
		})
	}
}

func TestPodsWithAnEarlierConfigurationAreDetected(t *testing.T) {
	pod := func(name, configMap, secret string) *corev1.Pod {
		s := fixture.Scope(fixture.Minimal())
		service.Config.Put(s.Slots, service.Rendered{ConfigMap: configMap, Secret: secret, SecretFile: "secret.conf"})
		meta := metav1.ObjectMeta{Namespace: s.Resource.Namespace, Name: name, Labels: pass.Definition.Labels(s.Resource.Name)}
		spec := deployment.PodsOf(s.Pass).Spec(corev1.Container{Name: "keystone"}, deployment.ConfigMount(s.Pass))
		return &corev1.Pod{ObjectMeta: meta, Spec: spec}
	}
	s := fixture.Scope(fixture.Minimal())
	for name, c := range map[string]struct {
		second, secret string
		mixed          bool
	}{
		"all rolled":                        {service.Config.Value(s.Slots).ConfigMap, "", false},
		"one with other secret options":     {service.Config.Value(s.Slots).ConfigMap, "keystone-options-1", false},
		"one not rolled yet":                {"keystone-config-76543210", "", true},
		"one not rolled yet, with a Secret": {"keystone-config-76543210", "keystone-options-1", true},
	} {
		current := service.Config.Value(s.Slots).ConfigMap
		reader := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(pod("a", current, ""), pod("b", c.second, c.secret)).Build()
		s.Client, s.Own.Propagation = reader, time.Minute
		use, err := keyUse(t.Context(), s, time.Hour)
		if want := (fernet.Use{Lifetime: time.Hour, Mixed: c.mixed, Propagation: time.Minute}); err != nil || use != want {
			t.Errorf("%s: %+v (%v), want %+v", name, use, err, want)
		}
	}
}

func TestARotationJobMayOnlyWriteItsStagingSecret(t *testing.T) {
	for name, f := range families {
		k := fixture.Minimal()
		r := f.Rotator(fixture.Scope(fixture.Installed(k)))
		for _, obj := range r.Access(k).Objects() {
			role, ok := obj.(*rbacv1.Role)
			if !ok {
				continue
			}
			for _, rule := range role.Rules {
				writes := slices.ContainsFunc(rule.Verbs, func(verb string) bool { return verb != "get" })
				if writes && !slices.Equal(rule.ResourceNames, []string{r.Staging}) || len(rule.ResourceNames) != 1 {
					t.Errorf("%s: the Job may %v %v", name, rule.Verbs, rule.ResourceNames)
				}
			}
		}
	}
}

func TestARotationFollowsItsSchedule(t *testing.T) {
	k := fixture.Installed(fixture.Minimal())
	k.Spec.Fernet.RotationSchedule, k.Spec.Fernet.Suspend, k.Spec.Fernet.MaxActiveKeys = "5 4 * * *", true, 7
	k.Spec.CredentialKeys.RotationSchedule = "1 2 * * *"
	tokens := Fernet.Rotator(fixture.Scope(k))
	built := tokens.CronJob(k, "scripts")
	if built.Spec.Schedule != "5 4 * * *" || !ptr.Deref(built.Spec.Suspend, false) {
		t.Errorf("schedule %q, suspend %v", built.Spec.Schedule, built.Spec.Suspend)
	}
	if want := (corev1.EnvVar{Name: "OS_FERNET_TOKENS__MAX_ACTIVE_KEYS", Value: "7"}); !slices.Contains(tokens.Env, want) {
		t.Errorf("the environment %v lacks %v", tokens.Env, want)
	}
	credential := Credential.Rotator(fixture.Scope(k)).CronJob(k, "scripts")
	if credential.Spec.Schedule != "1 2 * * *" || ptr.Deref(credential.Spec.Suspend, true) {
		t.Errorf("schedule %q, suspend %v", credential.Spec.Schedule, credential.Spec.Suspend)
	}
}

func TestNoRotationPodIsSelectedAsAnAPIPod(t *testing.T) {
	k := fixture.Installed(fixture.Minimal())
	selector := labels.SelectorFromSet(pass.Definition.SelectorLabels(k.Name))
	for name, f := range families {
		r := f.Rotator(fixture.Scope(k))
		if pod := r.CronJob(k, "scripts").Spec.JobTemplate.Spec.Template; selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("pods of the %s rotation are selected as API pods", name)
		}
	}
}

// A restarted container finds the files of its predecessor.
func TestEveryRotationAttemptStartsFromTheKeysInUse(t *testing.T) {
	for name, f := range families {
		files, err := f.Rotator(fixture.Scope(fixture.Installed(fixture.Minimal()))).Files()
		if err != nil {
			t.Fatal(err)
		}
		script := files[f.rotation.script]
		cleared := strings.Index(script, "rm -f "+f.rotation.directory)
		copied := strings.Index(script, "/"+f.rotation.volume+"-src/..data")
		rotated := strings.Index(script, strings.TrimSuffix(f.rotation.script, ".sh")+"\n")
		if cleared < 0 || copied < cleared || rotated < copied {
			t.Errorf("%s: the script clears at %d, copies at %d and rotates at %d", name, cleared, copied, rotated)
		}
	}
}

func TestCredentialsAreMigratedBeforeTheirKeysAreRotated(t *testing.T) {
	files, err := Credential.Rotator(fixture.Scope(fixture.Installed(fixture.Minimal()))).Files()
	if err != nil {
		t.Fatal(err)
	}
	script := files["credential_rotate.sh"]
	migrate, rotate := strings.Index(script, "credential_migrate\n"), strings.Index(script, "credential_rotate\n")
	if migrate < 0 || rotate < migrate {
		t.Errorf("the script migrates at %d and rotates at %d", migrate, rotate)
	}
	if strings.Count(script, "credential_migrate") != 1 {
		t.Error("the script migrates to a key that is not promoted yet")
	}
}

func TestTheRotationVolumeHasSpaceForAllKeys(t *testing.T) {
	const page = 4096
	for _, number := range []int32{3, 300, 1000, 5000, math.MaxInt32} {
		space := keySpace(number).Value()
		if wanted := min(int64(number), 20000) * 2 * page; space < wanted || space > 256<<20 {
			t.Errorf("%d keys have %d bytes, each needs a page for itself and one for its copy", number, space)
		}
	}
}
