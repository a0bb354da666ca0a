package config

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/golden"
)

func TestRenderPasteWithoutFiltersIsThePlainPipeline(t *testing.T) {
	got, err := RenderPaste(nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "api-paste-plain.ini", got)
}

func TestRenderPasteKeepsTheOrderOfTheFilters(t *testing.T) {
	got, err := RenderPaste([]PasteFilter{
		{
			Name: "zebra", Factory: "zoo.animals:Zebra.factory", Before: true,
			Config: map[string]string{"format": "%(REMOTE_ADDR)s 100%"},
		},
		{
			Name: "audit", Factory: "keystonemiddleware.audit:filter_factory",
			Config: map[string]string{
				"audit_map_file":       "/etc/keystone/api_audit_map.conf",
				"paste.filter_factory": "somewhere.else:factory",
			},
		},
		{Name: "ant", Factory: "zoo:ant", Before: true},
		{Name: "rate-limit", Factory: "limits:filter_factory"},
	})
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "api-paste-filters.ini", got)
}

func TestRenderPasteRefusesWhatThePipelineCannotHold(t *testing.T) {
	const factory = "keystonemiddleware.audit:filter_factory"
	tests := map[string]struct {
		filter PasteFilter
		want   string
	}{
		"empty name":       {PasteFilter{Factory: factory}, "name must not be empty"},
		"space in name":    {PasteFilter{Name: "a b", Factory: factory}, "name must consist of"},
		"bracket in name":  {PasteFilter{Name: "a]", Factory: factory}, "name must consist of"},
		"egg as name":      {PasteFilter{Name: "egg:x#y", Factory: factory}, "name must consist of"},
		"newline in name":  {PasteFilter{Name: "a\n", Factory: factory}, "name must consist of"},
		"built-in filter":  {PasteFilter{Name: "cors", Factory: factory}, "built-in part"},
		"application name": {PasteFilter{Name: "admin_service", Factory: factory}, "built-in part"},
		"pipeline name":    {PasteFilter{Name: "public_api", Factory: factory}, "built-in part"},
		"composite name":   {PasteFilter{Name: "main", Factory: factory}, "built-in part"},
		"empty factory":    {PasteFilter{Name: "a"}, "filter factory must not be empty"},
		"no callable":      {PasteFilter{Name: "a", Factory: "module"}, "must have the form module:callable"},
		"code as factory":  {PasteFilter{Name: "a", Factory: "os:system('x')"}, "must have the form module:callable"},
		"newline in factory": {
			PasteFilter{Name: "a", Factory: factory + "\nx = y"}, "must have the form module:callable",
		},
		"use in config": {
			PasteFilter{Name: "a", Factory: factory, Config: map[string]string{"use": "egg:x"}},
			`option "use" would replace the filter factory`,
		},
		"app factory in config": {
			PasteFilter{Name: "a", Factory: factory, Config: map[string]string{"paste.filter_app_factory": "m:c"}},
			`option "paste.filter_app_factory" would replace`,
		},
		"global option in config": {
			PasteFilter{Name: "a", Factory: factory, Config: map[string]string{"set debug": "true"}},
			"option name must not contain white space",
		},
		"newline in config": {
			PasteFilter{Name: "a", Factory: factory, Config: map[string]string{"k": "v\n[app:admin_service]"}},
			`section "filter:a", option "k": value must not contain a line break`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := RenderPaste([]PasteFilter{tc.filter})
			if err == nil {
				t.Fatalf("got %q, expected an error", got)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to contain %q", err, tc.want)
			}
		})
	}
}

func TestRenderPasteRefusesADuplicateName(t *testing.T) {
	_, err := RenderPaste([]PasteFilter{
		{Name: "audit", Factory: "a:b", Before: true},
		{Name: "audit", Factory: "c:d"},
	})
	if err == nil || !strings.Contains(err.Error(), `middleware[1] ("audit"): name is used twice`) {
		t.Errorf("got error %v, expected it to name the second audit", err)
	}
}

func TestRenderPasteDoesNotChangeTheConfigItIsGiven(t *testing.T) {
	options := map[string]string{"k": "100%"}
	if _, err := RenderPaste([]PasteFilter{{Name: "a", Factory: "a:b", Config: options}}); err != nil {
		t.Fatal(err)
	}
	if len(options) != 1 || options["k"] != "100%" {
		t.Errorf("got %v, expected the map as it was", options)
	}
}
