package ini

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/golden"
)

func TestRenderWritesSortedSectionsAndKeys(t *testing.T) {
	ini := File{
		"token": {"provider": "fernet"},
		"database": {
			"max_retries":             "-1",
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
		},
		"DEFAULT": {
			"use_stderr":                    "true",
			"keystone_user":                 "",
			"default_log_levels":            "amqp=WARN,sqlalchemy=WARN",
			"logging_context_format_string": "%(asctime)s.%(msecs)03d %(levelname)s [%(request_id)s] %(message)s",
		},
		"identity": {},
		"ldap":     {"user_filter": "(memberOf=cn=käyttäjät,dc=example)", "url": "ldap://$my_ip # not a comment"},
	}

	got, err := ini.Render()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "service.conf", got)
}

func TestRenderOfNothingIsEmpty(t *testing.T) {
	got, err := File{}.Render()
	if err != nil {
		t.Fatal(err)
	}
	if got != "" {
		t.Errorf("got %q, expected an empty file", got)
	}
}

func TestRenderRefusesAmbiguousNamesAndValues(t *testing.T) {
	tests := map[string]struct {
		section, key, value string
		want                string
	}{
		"line feed in value":        {"a", "k", "v\n[b]\nx = y", "value must not contain a line break"},
		"carriage return in value":  {"a", "k", "v\rx", "value must not contain a line break"},
		"next line in value":        {"a", "k", "v\u0085x", "value must not contain a line break"},
		"line separator in value":   {"a", "k", "v\u2028x", "value must not contain a line break"},
		"NUL in value":              {"a", "k", "v\x00x", "value must not contain control characters"},
		"tab in value":              {"a", "k", "v\tx", "value must not contain control characters"},
		"delete character in value": {"a", "k", "v\x7fx", "value must not contain control characters"},
		"leading space in value":    {"a", "k", " v", "value must not begin or end with white space"},
		"trailing space in value":   {"a", "k", "v ", "value must not begin or end with white space"},
		"no-break space at the end": {"a", "k", "v\u00a0", "value must not begin or end with white space"},
		"value of one space":        {"a", "k", " ", "value must not begin or end with white space"},
		"invalid UTF-8 in value":    {"a", "k", "v\xff", "value must be valid UTF-8"},
		"empty key":                 {"a", "", "v", "option name must not be empty"},
		"equals sign in key":        {"a", "k=x", "v", "option name must not contain '=' or ':'"},
		"colon in key":              {"a", "k:x", "v", "option name must not contain '=' or ':'"},
		"hash before key":           {"a", "#k", "v", "option name must not begin with"},
		"semicolon before key":      {"a", ";k", "v", "option name must not begin with"},
		"bracket before key":        {"a", "[k]", "v", "option name must not begin with"},
		"line feed in key":          {"a", "k\nx", "v", "option name must not contain a line break"},
		"space before key":          {"a", " k", "v", "option name must not begin or end with white space"},
		"space after key":           {"a", "k ", "v", "option name must not begin or end with white space"},
		"space within key":          {"a", "set k", "v", "option name must not contain white space"},
		"empty section":             {"", "k", "v", "section name must not be empty"},
		"closing bracket":           {"a]", "k", "v", "section name must not contain square brackets"},
		"opening bracket":           {"[a", "k", "v", "section name must not contain square brackets"},
		"line feed in section":      {"a\nb", "k", "v", "section name must not contain a line break"},
		"space before section":      {" a", "k", "v", "section name must not begin or end with white space"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := File{tc.section: {tc.key: tc.value}}.Render()
			if err == nil {
				t.Fatalf("got %q, expected an error", got)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to contain %q", err, tc.want)
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("section %q", tc.section)) {
				t.Errorf("got error %q, expected it to name the section %q", err, tc.section)
			}
		})
	}
}

func TestRenderNamesEveryOffendingOptionAndNoValue(t *testing.T) {
	ini := File{
		"ldap":     {"password": "hunter2\n", "user": "cn=admin", "url": "ldap://x\x00"},
		"database": {"connection": " mysql://u:hunter2@h/d"},
	}

	_, err := ini.Render()
	if err == nil {
		t.Fatal("expected an error")
	}
	for _, want := range []string{
		`section "database", option "connection"`, `section "ldap", option "password"`, `section "ldap", option "url"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %q, expected it to contain %q", err, want)
		}
	}
	for _, not := range []string{"hunter2", `"user"`} {
		if strings.Contains(err.Error(), not) {
			t.Errorf("got error %q, expected it not to contain %q", err, not)
		}
	}
}

func TestMergeLetsTheLastOverlayWin(t *testing.T) {
	base := File{"a": {"k": "base", "only": "base"}, "b": {"k": "base"}}
	first := File{"a": {"k": "first"}, "c": {"k": "first"}}
	second := File{"a": {"k": "second"}}

	got := base.Merge(first, nil, second)

	want := File{"a": {"k": "second", "only": "base"}, "b": {"k": "base"}, "c": {"k": "first"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

// oslo.config converts section names to lower case, except for DEFAULT.
func TestSectionNamesAreCaseInsensitiveExceptDEFAULT(t *testing.T) {
	base := File{"token": {"expiration": "3600", "provider": "fernet"}, "DEFAULT": {"debug": "false"}}
	got := base.Merge(File{"Token": {"expiration": "7200"}, "DEFAULT": {"debug": "true"}, "Default": {"debug": "maybe"}})
	want := File{
		"token": {"expiration": "7200", "provider": "fernet"}, "DEFAULT": {"debug": "true"}, "default": {"debug": "maybe"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

func TestMergeSharesNothingWithItsInputs(t *testing.T) {
	base := File{"a": {"k": "base"}}
	overlay := File{"b": {"k": "overlay"}}

	merged := base.Merge(overlay)
	merged.Set("a", "k", "changed")
	merged.Set("b", "k", "changed")

	if diff := cmp.Diff(File{"a": {"k": "base"}}, base); diff != "" {
		t.Errorf("base (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(File{"b": {"k": "overlay"}}, overlay); diff != "" {
		t.Errorf("overlay (-want +got):\n%s", diff)
	}
}

func TestGetDistinguishesEmptyAndMissingOptions(t *testing.T) {
	ini := File{}
	ini.Set("a", "empty", "")

	if value, ok := ini.Get("a", "empty"); value != "" || !ok {
		t.Errorf("got %q, %t for an empty option, expected it to be set", value, ok)
	}
	if _, ok := ini.Get("a", "missing"); ok {
		t.Error("expected an option that was never set to be missing")
	}
	if _, ok := ini.Get("missing", "empty"); ok {
		t.Error("expected an option of a missing section to be missing")
	}
}

func TestParseReadsHandWrittenFiles(t *testing.T) {
	text := "# comment\r\n\r\n[a]\r\nk=v\r\nurl : http://h:1/p\r\n  \n; comment\n[b]\nquoted = \"x\"\n[a]\nlast = 1"

	got, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := File{"a": {"k": "v", "url": "http://h:1/p", "last": "1"}, "b": {"quoted": `"x"`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parsed (-want +got):\n%s", diff)
	}
}

func TestParseRefusesUnsupportedSyntax(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"option before a section": {"k = v", "line 1: option before the first section"},
		"continuation line":       {"[a]\nk = v\n  more", "line 3: continuation lines are not supported"},
		"repeated option":         {"[a]\nk = v\nk = w", "an option is set twice"},
		"no separator":            {"[a]\nword", "line 2: expected 'key = value'"},
		"open header":             {"[a", "line 1: section header must end with ']'"},
		"empty header":            {"[]", "line 1: section name must not be empty"},
		"empty key":               {"[a]\n= v", "line 2: option name must not be empty"},
		"control character":       {"[a]\nk = a\x00b", "line 2: value must not contain control characters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.text)
			if err == nil {
				t.Fatalf("got %v, expected an error", got)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to begin with %q", err, tc.want)
			}
		})
	}
}

func TestARepeatedOptionKeepsItsValuesInOrder(t *testing.T) {
	text := "[Federation]\ntrusted_dashboard = https://z\nother = 1\ntrusted_dashboard = https://a\ntrusted_dashboard = https://z\n"
	ini, repeated, err := ParseRepeated(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ini.Get("Federation", "trusted_dashboard"); got != "https://z" {
		t.Errorf("an option with one value would be %q, want the last one", got)
	}
	rendered, err := ini.Merge().RenderRepeated(repeated.Normalised())
	if err != nil {
		t.Fatal(err)
	}
	want := "[federation]\nother = 1\ntrusted_dashboard = https://z\ntrusted_dashboard = https://a\ntrusted_dashboard = https://z\n"
	if diff := cmp.Diff(want, rendered); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if _, err := ini.RenderRepeated(Repeated{"Federation": {"other": {"1", "2\n[x]"}}}); err == nil {
		t.Error("a value with a line break is rendered")
	}
}

func TestRenderAndParseRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		ini := randomINI(random)
		text, err := ini.Render()
		if err != nil {
			t.Fatalf("rendering %#v: %v", ini, err)
		}
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("parsing %q: %v", text, err)
		}
		if diff := cmp.Diff(ini, got); diff != "" {
			t.Fatalf("%q parsed back (-want +got):\n%s", text, diff)
		}
	}
}

func TestRenderDoesNotDependOnMapOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ini := randomINI(random)
	want, err := ini.Render()
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		clone := File{}
		for section, options := range ini {
			clone[section] = maps.Clone(options)
		}
		got, err := clone.Render()
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %q, expected %q", got, want)
		}
	}
}

func randomINI(random *rand.Rand) File {
	const nameRunes = "abcXYZ019_-./äß"
	const valueRunes = nameRunes + "=:#;[]%$'\"\\(){}, "
	word := func(runes string, most int) string {
		var out strings.Builder
		all := []rune(runes)
		for range random.IntN(most) {
			out.WriteRune(all[random.IntN(len(all))])
		}
		return strings.TrimSpace(out.String())
	}
	ini := File{}
	for range random.IntN(6) {
		section := "s" + word(nameRunes, 8)
		ini[section] = map[string]string{}
		for range random.IntN(6) {
			ini.Set(section, "k"+word(nameRunes, 8), word(valueRunes, 20))
		}
	}
	return ini
}
