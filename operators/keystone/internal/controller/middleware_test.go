package controller

import (
	"maps"
	"slices"
	"strings"
	"testing"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestMiddlewareFilesAreRenderedNextToTheConfiguration(t *testing.T) {
	k := fixture.Managed()
	k.Spec.Federation = &keystonev1alpha1.FederationSpec{Enabled: true}
	k.Spec.Middleware[0].Files = nil
	own := filesOf(t, k)
	k.Spec.Middleware[0].Files = map[string]string{"audit_map.ini": "[path_keywords]\n"}
	with := filesOf(t, k)
	if got := with["audit_map.ini"]; got != "[path_keywords]\n" || len(with) != len(own)+1 {
		t.Errorf("the files are %v, audit_map.ini holds %q", slices.Sorted(maps.Keys(with)), got)
	}
	for name := range own {
		k.Spec.Middleware = []keystonev1alpha1.MiddlewareSpec{{
			Name: "audit", FilterFactory: "a:b", Position: keystonev1alpha1.PipelineAfter, Files: map[string]string{name: ""},
		}}
		if errs := keystonev1alpha1.Validate(k); len(errs) == 0 || !strings.HasPrefix(errs[0].Field, "spec.middleware[0].files") {
			t.Errorf("a filter that replaces %s: %v", name, errs)
		}
	}
}
