package serviceconfig

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// filter is a field for filters with a filter.
var filter = Filters[*service.Pass]{Field: "spec.filters", Value: func(*service.Pass) (any, bool) { return []string{"audit"}, true }}

func filtering(filters bool) Settings[*service.Pass] {
	with := settings
	with.Filters = &filter
	if !filters {
		with.Filters = &Filters[*service.Pass]{Field: filter.Field, Value: func(*service.Pass) (any, bool) { return nil, false }}
	}
	return with
}

// plugins returns a field for options of plugins with the options.
func plugins(options ini.File) *Plugins[*service.Pass] {
	return &Plugins[*service.Pass]{Field: "spec.plugins", Options: func(*service.Pass) ini.File { return options }}
}

func TestTheConfigCheckRunsOnlyForUserSuppliedOptions(t *testing.T) {
	with, none := settings, settings
	with.Plugins, none.Plugins = plugins(ini.File{"plugin": {"speed": "slow"}}), plugins(nil)
	written := instance.Brownfield()
	written.Spec.ExtraConfig = map[string]map[string]string{"DEFAULT": {"debug": "true"}}
	global := instance.Brownfield()
	global.Spec.GlobalExtraConfig = written.Spec.ExtraConfig
	for name, test := range map[string]struct {
		service  Settings[*service.Pass]
		resource *instance.Harbour
		want     bool
	}{
		"nothing":             {settings, instance.Brownfield(), false},
		"no plugin":           {none, instance.Brownfield(), false},
		"a plugin":            {with, instance.Brownfield(), true},
		"no filter":           {filtering(false), instance.Brownfield(), false},
		"a filter":            {filtering(true), instance.Brownfield(), true},
		"options of the spec": {settings, written, true},
		"global options":      {settings, global, true},
	} {
		p := passOf(t, test.resource)
		p.Jobs.Events = p.Client
		outcome := test.service.ReconcileCheck(t.Context(), p)
		err := p.Client.Get(t.Context(), p.Key("harbour-config-check"), &batchv1.Job{})
		if there := err == nil; there != test.want || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: a Job is there: %t, want %t (error %v)", name, there, test.want, err)
		}
		if outcome.IsDone() == test.want {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}

func TestAFailedConfigCheckNamesTheFieldsThatSetOptions(t *testing.T) {
	for _, with := range []bool{false, true} {
		checked := settings
		if with {
			checked.Plugins = plugins(nil)
		}
		h := instance.Brownfield()
		h.Spec.ExtraConfig = map[string]map[string]string{"DEFAULT": {"debug": "perhaps"}}
		p := passOf(t, h)
		p.Jobs.Events = p.Client
		checked.ReconcileCheck(t.Context(), p)
		failed := &batchv1.Job{}
		if err := p.Client.Get(t.Context(), p.Key("harbour-config-check"), failed); err != nil {
			t.Fatal(err)
		}
		failed.Status.Conditions = []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		}}
		if err := p.Client.Status().Update(t.Context(), failed); err != nil {
			t.Fatal(err)
		}
		outcome := checked.ReconcileCheck(t.Context(), p)
		if outcome.Reason() != vocabulary.ReasonConfigError || strings.Contains(outcome.Message(), "spec.plugins") != with {
			t.Errorf("with plugins %t: got %s: %s", with, outcome.Reason(), outcome.Message())
		}
	}
}
