package paste

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/golden"
)

func TestRenderPasteWithoutFiltersIsThePlainPipeline(t *testing.T) {
	got, err := Render(nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "api-paste-plain.ini", got)
}

func TestRenderPasteKeepsTheOrderOfTheFilters(t *testing.T) {
	got, err := Render([]Filter{
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

func TestRenderPasteRefusesInvalidFilters(t *testing.T) {
	const factory = "keystonemiddleware.audit:filter_factory"
	tests := map[string]struct {
		filter Filter
		want   string
	}{
		"empty name":       {Filter{Factory: factory}, "name must not be empty"},
		"space in name":    {Filter{Name: "a b", Factory: factory}, "name must consist of"},
		"bracket in name":  {Filter{Name: "a]", Factory: factory}, "name must consist of"},
		"egg as name":      {Filter{Name: "egg:x#y", Factory: factory}, "name must consist of"},
		"newline in name":  {Filter{Name: "a\n", Factory: factory}, "name must consist of"},
		"built-in filter":  {Filter{Name: "cors", Factory: factory}, "built-in part"},
		"application name": {Filter{Name: "admin_service", Factory: factory}, "built-in part"},
		"pipeline name":    {Filter{Name: "public_api", Factory: factory}, "built-in part"},
		"composite name":   {Filter{Name: "main", Factory: factory}, "built-in part"},
		"empty factory":    {Filter{Name: "a"}, "filter factory must not be empty"},
		"no callable":      {Filter{Name: "a", Factory: "module"}, "must have the form module:callable"},
		"code as factory":  {Filter{Name: "a", Factory: "os:system('x')"}, "must have the form module:callable"},
		"newline in factory": {
			Filter{Name: "a", Factory: factory + "\nx = y"}, "must have the form module:callable",
		},
		"use in config": {
			Filter{Name: "a", Factory: factory, Config: map[string]string{"use": "egg:x"}},
			`option "use" would replace the filter factory`,
		},
		"app factory in config": {
			Filter{Name: "a", Factory: factory, Config: map[string]string{"paste.filter_app_factory": "m:c"}},
			`option "paste.filter_app_factory" would replace`,
		},
		"global option in config": {
			Filter{Name: "a", Factory: factory, Config: map[string]string{"set debug": "true"}},
			"option name must not contain white space",
		},
		"newline in config": {
			Filter{Name: "a", Factory: factory, Config: map[string]string{"k": "v\n[app:admin_service]"}},
			`section "filter:a", option "k": value must not contain a line break`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Render([]Filter{tc.filter})
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
	_, err := Render([]Filter{
		{Name: "audit", Factory: "a:b", Before: true},
		{Name: "audit", Factory: "c:d"},
	})
	if err == nil || !strings.Contains(err.Error(), `middleware[1] ("audit"): name is used twice`) {
		t.Errorf("got error %v, expected it to name the second audit", err)
	}
}

func TestRenderPasteDoesNotChangeTheConfigItIsGiven(t *testing.T) {
	options := map[string]string{"k": "100%"}
	if _, err := Render([]Filter{{Name: "a", Factory: "a:b", Config: options}}); err != nil {
		t.Fatal(err)
	}
	if len(options) != 1 || options["k"] != "100%" {
		t.Errorf("got %v, expected the map as it was", options)
	}
}
