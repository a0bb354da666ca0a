package paste

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/testutil/inireader"
)

func FuzzRenderPaste(f *testing.F) {
	f.Add("audit", "keystonemiddleware.audit:filter_factory", "audit_map_file", "/etc/map.conf", true)
	f.Add("a b", "m:c", "k", "v", false)
	f.Add("a", "m:c\n[app:x]", "k", "v", false)
	f.Add("a", "m:c", "paste.filter_factory", "other:factory", true)
	f.Add("a", "m:c", "use", "egg:x", true)
	f.Add("a", "m:c", "k", "%(here)s %% %", true)
	f.Fuzz(func(t *testing.T, name, factory, key, value string, before bool) {
		text, err := Render([]Filter{
			{Name: name, Factory: factory, Before: before, Config: map[string]string{key: value}},
		})
		if err != nil {
			return
		}
		got, err := ini.Parse(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		read, err := inireader.Configparser(text)
		if err != nil {
			t.Fatalf("configparser reading %q: %v", text, err)
		}
		if diff := cmp.Diff(read, inireader.Options(got)); diff != "" {
			t.Fatalf("configparser reading %q (-configparser +ini):\n%s", text, diff)
		}
		section := "filter:" + name
		want := map[string]string{key: strings.ReplaceAll(value, "%", "%%")}
		want["paste.filter_factory"] = factory
		if diff := cmp.Diff(want, got[section]); diff != "" {
			t.Errorf("[%s] (-want +got):\n%s", section, diff)
		}
		pipeline := "cors sizelimit http_proxy_to_wsgi url_normalize request_id " + name + " admin_service"
		if before {
			pipeline = name + " cors sizelimit http_proxy_to_wsgi url_normalize request_id admin_service"
		}
		if got["pipeline:public_api"]["pipeline"] != pipeline {
			t.Errorf("got pipeline %q, expected %q", got["pipeline:public_api"]["pipeline"], pipeline)
		}
		plain, err := Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		if added := strings.Count(text, "\n[") - strings.Count(plain, "\n["); added != 1 {
			t.Errorf("%q has %d more sections than without the filter, expected 1", text, added)
		}
	})
}
