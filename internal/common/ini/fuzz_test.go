package ini

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/inireader"
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
		ini := File{section: {key: value}}
		text, err := ini.Render()
		if err != nil {
			return
		}
		if lines := strings.Count(text, "\n"); lines != 2 {
			t.Fatalf("%q has %d lines, expected a header and one option", text, lines)
		}
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		if diff := cmp.Diff(ini, got); diff != "" {
			t.Fatalf("%q parsed back (-want +got):\n%s", text, diff)
		}
		wantReadBy(t, "oslo.config", inireader.Oslo, text, File{section: {key: inireader.Unquoted(value)}})
		wantReadBy(t, "configparser", inireader.Configparser, text, ini)
	})
}

func wantReadBy(t *testing.T, reader string, read func(string) (inireader.Options, error), text string, want inireader.Options) {
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
		ini, err := Parse(text)
		if err != nil {
			return
		}
		rendered, err := ini.Render()
		if err != nil {
			t.Fatalf("%q parsed to %#v, which does not render: %v", text, ini, err)
		}
		got, err := Parse(rendered)
		if err != nil {
			t.Fatalf("parsing %q: %v", rendered, err)
		}
		if diff := cmp.Diff(ini, got); diff != "" {
			t.Fatalf("%q parsed back (-want +got):\n%s", rendered, diff)
		}
	})
}
