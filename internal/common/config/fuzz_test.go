package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzRenderINI(f *testing.F) {
	f.Add("DEFAULT", "debug", "true")
	f.Add("database", "connection", "mysql+pymysql://u:p@h:3306/d?charset=utf8")
	f.Add("a", "k", "v\n[b]\nx = y")
	f.Add("a]\n[b", "k", "v")
	f.Add("a", "k\n[b]\nx", "v")
	f.Add("a", "k", "v\u2028x\u0085y")
	f.Add("a", "#k", "'$name %(here)s'")
	f.Add(" ", "\u00a0", "\xff\x00")
	f.Fuzz(func(t *testing.T, section, key, value string) {
		ini := INI{section: {key: value}}
		text, err := ini.Render()
		if err != nil {
			return
		}
		if lines := strings.Count(text, "\n"); lines != 2 {
			t.Fatalf("%q has %d lines, expected a header and one option", text, lines)
		}
		got, err := ParseINI(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		if diff := cmp.Diff(ini, got); diff != "" {
			t.Fatalf("%q parsed back (-want +got):\n%s", text, diff)
		}
		wantReadBy(t, "oslo.config", osloRead, text, INI{section: {key: unquoted(value)}})
		wantReadBy(t, "configparser", configparserRead, text, ini)
	})
}

func wantReadBy(t *testing.T, reader string, read func(string) (INI, error), text string, want INI) {
	t.Helper()
	got, err := read(text)
	if err != nil {
		t.Fatalf("%s reading %q: %v", reader, text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s reading %q (-want +got):\n%s", reader, text, diff)
	}
}

func FuzzParseINI(f *testing.F) {
	f.Add("[DEFAULT]\ndebug = true\n\n[database]\nconnection = mysql://h/d\n")
	f.Add("# comment\r\n[a]\r\nk:v=w\r\n; comment")
	f.Add("[a]\nk = v\n  continued")
	f.Add("[a]\n[a]\n[]")
	f.Add("[ a ]\n\u00a0k = \u2028")
	f.Fuzz(func(t *testing.T, text string) {
		ini, err := ParseINI(text)
		if err != nil {
			return
		}
		rendered, err := ini.Render()
		if err != nil {
			t.Fatalf("%q parsed to %#v, which does not render: %v", text, ini, err)
		}
		got, err := ParseINI(rendered)
		if err != nil {
			t.Fatalf("parsing %q: %v", rendered, err)
		}
		if diff := cmp.Diff(ini, got); diff != "" {
			t.Fatalf("%q parsed back (-want +got):\n%s", rendered, diff)
		}
	})
}

func FuzzRenderPaste(f *testing.F) {
	f.Add("audit", "keystonemiddleware.audit:filter_factory", "audit_map_file", "/etc/map.conf", true)
	f.Add("a b", "m:c", "k", "v", false)
	f.Add("a", "m:c\n[app:x]", "k", "v", false)
	f.Add("a", "m:c", "paste.filter_factory", "other:factory", true)
	f.Add("a", "m:c", "use", "egg:x", true)
	f.Add("a", "m:c", "k", "%(here)s %% %", true)
	f.Fuzz(func(t *testing.T, name, factory, key, value string, before bool) {
		text, err := RenderPaste([]PasteFilter{
			{Name: name, Factory: factory, Before: before, Config: map[string]string{key: value}},
		})
		if err != nil {
			return
		}
		got, err := ParseINI(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		wantReadBy(t, "configparser", configparserRead, text, got)
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
		plain, err := RenderPaste(nil)
		if err != nil {
			t.Fatal(err)
		}
		if added := strings.Count(text, "\n[") - strings.Count(plain, "\n["); added != 1 {
			t.Errorf("%q has %d more sections than without the filter, expected 1", text, added)
		}
	})
}
