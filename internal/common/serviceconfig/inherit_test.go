package serviceconfig

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

// version is a version of the operator that ships the program with the configuration.
func version(program string) Settings[*service.Pass] {
	with := settings
	with.Options = func(*service.Pass) ini.File {
		return ini.File{"DEFAULT": {"by": program}, "cache": {"backend": "dogpile.cache.memcached"}}
	}
	with.Files = func(*service.Pass) (map[string]string, error) { return map[string]string{"start.py": program}, nil }
	with.Plugins = plugins(ini.File{"Anchor": {"chain": "long"}})
	return with
}

func written() *instance.Harbour {
	h := instance.Brownfield()
	h.Spec.ExtraConfig = map[string]map[string]string{"Pier": {"length": "12"}}
	return h
}

// keyOf returns the run key of the check after the configuration was rendered.
func keyOf(t *testing.T, s Settings[*service.Pass], p *service.Pass) string {
	t.Helper()
	if outcome := s.Reconcile(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	desired, err := deployment.TaskJob(p, s.CheckTask(p))
	if err != nil {
		t.Fatal(err)
	}
	return desired.Annotations[job.RunKeyAnnotation]
}

func TestTheConfigCheckRunsAgainForUserChangesNotOperatorVersions(t *testing.T) {
	before := keyOf(t, version("old"), passOf(t, written()))
	filtered := version("old")
	filtered.Filters = &filter
	plugin := version("old")
	plugin.Plugins = plugins(ini.File{"Anchor": {"chain": "short"}})
	cache := version("old")
	cache.Options = func(*service.Pass) ini.File { return ini.File{"cache": {"backend": "dogpile.cache.redis"}} }
	option, image := written(), written()
	option.Spec.ExtraConfig["Pier"]["length"] = "13"
	image.Spec.Image.Tag = "2026.1"
	for name, c := range map[string]struct {
		operator Settings[*service.Pass]
		resource *instance.Harbour
		again    bool
	}{
		"another version of the operator": {version("new"), written(), false},
		"a filter":                        {filtered, written(), true},
		"another backend of the cache":    {cache, written(), true},
		"another option of a plugin":      {plugin, written(), true},
		"another option":                  {version("old"), option, true},
		"another image":                   {version("old"), image, true},
	} {
		if again := keyOf(t, c.operator, passOf(t, c.resource)) != before; again != c.again {
			t.Errorf("with %s the check runs again: %t, want %t", name, again, c.again)
		}
	}
}

// checkedBy080 is a pass after an operator of version 0.8.0 has checked the configuration.
func checkedBy080(t *testing.T) *service.Pass {
	t.Helper()
	p := passOf(t, written())
	keyOf(t, version("old"), p)
	earlier := version("old").CheckTask(p)
	earlier.RunKey = []any{p.Spec.Image.Reference(), service.Config.Value(p.Slots).ConfigMap}
	desired, err := deployment.TaskJob(p, earlier)
	if err != nil {
		t.Fatal(err)
	}
	instance.Succeed(t, p, desired)
	return p
}

func TestACheckByAnOperatorOfVersion080IsNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *service.Pass, s *Settings[*service.Pass])
		again  bool
	}{
		"the same is written": {func(*service.Pass, *Settings[*service.Pass]) {}, false},
		"another option":      {func(p *service.Pass, _ *Settings[*service.Pass]) { p.Options.ExtraConfig["Pier"]["length"] = "13" }, true},
		"one more option":     {func(p *service.Pass, _ *Settings[*service.Pass]) { p.Options.ExtraConfig["Pier"]["width"] = "1" }, true},
		"another backend of the cache": {func(_ *service.Pass, s *Settings[*service.Pass]) {
			s.Options = func(*service.Pass) ini.File { return ini.File{"cache": {"backend": "dogpile.cache.redis"}} }
		}, true},
		"another image": {func(p *service.Pass, _ *Settings[*service.Pass]) { p.Spec.Image.Tag = "2026.1" }, true},
		"a filter, which it has not checked": {func(_ *service.Pass, s *Settings[*service.Pass]) {
			s.Filters = &filter
		}, true},
	} {
		p, operator := checkedBy080(t), version("new")
		c.change(p, &operator)
		key := keyOf(t, operator, p)
		if outcome := operator.ReconcileCheck(t.Context(), p); outcome.IsDone() == c.again {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
		live := &batchv1.Job{}
		if err := p.Client.Get(t.Context(), p.Key("harbour-config-check"), live); err != nil {
			t.Fatal(err)
		}
		if got := live.Annotations[job.RunKeyAnnotation]; got != key {
			t.Errorf("%s: the key %s is recorded, want %s", name, got, key)
		}
	}
}
