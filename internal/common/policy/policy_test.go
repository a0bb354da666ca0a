package policy

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestParseReadsAllCommonYAMLStyles(t *testing.T) {
	content := `# Sample from a generator
"identity:get_user": "rule:admin_required or (role:reader and domain_id:%(target.user.domain_id)s)"
'identity:list_users': 'role:reader'
identity:get_region: ""
admin_required: role:admin or is_admin:1  # comment
open: "@"
closed: "!"
folded: >-
  role:admin
  or role:manager
"not a word": "yes"
`
	got, err := Parse([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"identity:get_user":   "rule:admin_required or (role:reader and domain_id:%(target.user.domain_id)s)",
		"identity:list_users": "role:reader",
		"identity:get_region": "",
		"admin_required":      "role:admin or is_admin:1",
		"open":                "@",
		"closed":              "!",
		"folded":              "role:admin or role:manager",
		"not a word":          "yes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestParseTakesAFileWithoutRulesAsEmpty(t *testing.T) {
	for _, content := range []string{"", "\n", "# only a comment\n", "---\n", "{}", "null", "~"} {
		got, err := Parse([]byte(content))
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("%q: got %v and error %v, expected an empty map", content, got, err)
		}
	}
}

func TestParseRefusesContentThatOsloPolicyWouldMisinterpret(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"duplicate rule":       {"a: role:x\nb: role:y\na: role:z\n", `line 3: rule "a" is defined twice`},
		"duplicate by quoting": {"a: role:x\n\"a\": role:z\n", `line 2: rule "a" is defined twice`},
		"boolean":              {"a: true\n", `line 1: rule "a" must be a string`},
		"number":               {"a: 1\n", `line 1: rule "a" must be a string`},
		"null":                 {"a:\n", `line 1: rule "a" must be a string`},
		"list":                 {"a: [role:x]\n", `line 1: rule "a" must be a string`},
		"map":                  {"a:\n  b: c\n", `line 2: rule "a" must be a string`},
		"number as name":       {"1: role:x\n", "line 1: a rule name must be a string"},
		"list as name":         {"[a]: role:x\n", "line 1: a rule name must be a string"},
		"merge key":            {"a: &x role:x\n<<: {b: c}\n", "line 2: a rule name must be a string"},
		"alias":                {"a: &x role:x\nb: *x\n", `line 2: rule "b" must be a string`},
		"own tag":              {"a: !env X\n", `line 1: rule "a" must be a string`},
		"empty name":           {"\"\": role:x\n", "line 1: policy rule name must not be empty"},
		"long name":            {strings.Repeat("a", 999) + ": role:x\n", "line 1: policy rule name must not be longer"},
		"NUL in rule":          {"a: \"x\\0\"\n", `line 1: rule "a": must not contain the control character U+0000`},
		"list of rules":        {"- a: role:x\n", "line 1: expected a map"},
		"plain text":           {"role:admin\n", "line 1: expected a map"},
		"two documents":        {"a: role:x\n---\nb: role:y\n", "expected a single YAML document"},
		"broken second part":   {"a: role:x\n---\n\t", "yaml: "},
		"not YAML":             {"a: 'role:x\n", "yaml: "},
		"rule sign unquoted":   {"a: @\n", "yaml: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.content))
			if err == nil {
				t.Fatalf("got %v, expected an error", got)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to begin with %q", err, tc.want)
			}
		})
	}
}

func TestRenderWritesOneSortedAndQuotedRulePerLine(t *testing.T) {
	got, err := Render(map[string]string{
		"identity:list_users": "role:reader",
		"admin_required":      "role:admin",
		"identity:get_user":   `role:"x" or '<&>'`,
		"yes":                 "",
		"open":                "@",
		"lines":               "role:a\n  or\trole:b\n",
		"käyttäjä":            "role:💡",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `"admin_required": "role:admin"
"identity:get_user": "role:\"x\" or '<&>'"
"identity:list_users": "role:reader"
"käyttäjä": "role:💡"
"lines": "role:a\n  or\trole:b\n"
"open": "@"
"yes": ""
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestRenderOfNoRulesIsAnEmptyMap(t *testing.T) {
	for _, rules := range []map[string]string{nil, {}} {
		if got, err := Render(rules); got != "{}\n" || err != nil {
			t.Errorf("got %q and error %v, expected an empty map", got, err)
		}
	}
}

func TestRenderRefusesWhatYAMLCannotHold(t *testing.T) {
	tests := map[string]struct{ name, rule, want string }{
		"empty name":        {"", "role:x", "policy rule name must not be empty"},
		"escaped name":      {strings.Repeat("\u2028", 167), "role:x", "policy rule name must not be longer"},
		"long name":         {strings.Repeat("a", 999), "role:x", "policy rule name must not be longer"},
		"NUL in name":       {"a\x00", "role:x", "must not contain the control character U+0000"},
		"escape in rule":    {"a", "\x1b[2J", `rule "a": must not contain the control character U+001B`},
		"delete in rule":    {"a", "x\x7f", `rule "a": must not contain the control character U+007F`},
		"invalid UTF-8":     {"a", "\xff", `rule "a": must be valid UTF-8`},
		"byte order mark":   {"a", "\ufeffrole:x", `rule "a": must not contain the control character U+FEFF`},
		"next line in rule": {"a", "x\u0085", `rule "a": must not contain the control character U+0085`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Render(map[string]string{tc.name: tc.rule})
			if err == nil {
				t.Fatalf("got %q, expected an error", got)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to contain %q", err, tc.want)
			}
		})
	}
}

func TestRenderAndParseRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab:_%()!@#&*-?|>'\"\\[]{}, \t\n\r~=.ö\u00a0\u2028💡")
	word := func() string {
		runes := make([]rune, random.IntN(20))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(runes)
	}
	for range 500 {
		want := map[string]string{}
		for range random.IntN(6) {
			want["r"+word()] = word()
		}
		text, err := Render(want)
		if err != nil {
			t.Fatalf("rendering %q: %v", want, err)
		}
		expectRules(t, text, want)
	}
}

// expectRules parses the text both with the strict parser and with a lenient
// one.
func expectRules(t *testing.T, text string, want map[string]string) {
	t.Helper()
	got, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("parsing %q: %v", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q parsed back (-want +got):\n%s", text, diff)
	}
	lenient := map[string]string{}
	if err := yaml.Unmarshal([]byte(text), &lenient); err != nil {
		t.Fatalf("reading %q as plain YAML: %v", text, err)
	}
	if diff := cmp.Diff(want, lenient); diff != "" {
		t.Fatalf("%q read as plain YAML (-want +got):\n%s", text, diff)
	}
	if lines := strings.Count(text, "\n"); lines != max(len(want), 1) {
		t.Fatalf("%q has %d lines, expected one per rule", text, lines)
	}
}

func TestTheLongestNameStillParsesBack(t *testing.T) {
	for _, name := range []string{strings.Repeat("a", 998), strings.Repeat("\u2028", 166), strings.Repeat("\"", 499)} {
		want := map[string]string{name: "role:x"}
		text, err := Render(want)
		if err != nil {
			t.Fatal(err)
		}
		expectRules(t, text, want)
	}
}

func TestMergeLetsTheOverrideWin(t *testing.T) {
	base := map[string]string{"a": "base", "b": "base"}
	override := map[string]string{"b": "override", "c": "override"}

	got := Merge(base, override)

	if diff := cmp.Diff(map[string]string{"a": "base", "b": "override", "c": "override"}, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	got["a"] = "changed"
	if base["a"] != "base" || !maps.Equal(Merge(nil, nil), map[string]string{}) {
		t.Error("expected a new map that is never nil")
	}
}

func loadFrom(t *testing.T, data map[string]string) (map[string]string, error) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "rules"}, Data: data}
	reader := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(cm).Build()
	return LoadPolicyFromConfigMap(t.Context(), reader, client.ObjectKeyFromObject(cm))
}

func TestLoadPolicyReadsTheRulesOfAConfigMap(t *testing.T) {
	got, err := loadFrom(t, map[string]string{"policy.yaml": "identity:get_user: role:admin\n", "other": "ignored"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"identity:get_user": "role:admin"}, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestLoadPolicyNamesAConfigMapWithAnInvalidPolicy(t *testing.T) {
	tests := map[string]struct {
		data map[string]string
		want string
	}{
		"without the key": {map[string]string{"policy.json": "{}"}, `ConfigMap openstack/rules does not contain key "policy.yaml"`},
		"without data":    {nil, `ConfigMap openstack/rules does not contain key "policy.yaml"`},
		"with an empty file": {
			map[string]string{"policy.yaml": ""}, "policy.yaml of ConfigMap openstack/rules is empty: add at least one rule",
		},
		"with comments only": {
			map[string]string{"policy.yaml": "# none\n"}, "policy.yaml of ConfigMap openstack/rules is empty: add at least one rule",
		},
		"with bad rules": {
			map[string]string{"policy.yaml": "a: 1\n"},
			`parsing policy.yaml from ConfigMap openstack/rules: line 1: rule "a" must be a string`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := loadFrom(t, tc.data)
			if err == nil {
				t.Fatalf("got %v, expected an error", got)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to begin with %q", err, tc.want)
			}
		})
	}
}

func TestLoadPolicyKeepsTheErrorOfAMissingConfigMap(t *testing.T) {
	reader := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
	_, err := LoadPolicyFromConfigMap(t.Context(), reader, client.ObjectKey{Namespace: "openstack", Name: "rules"})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "openstack/rules") {
		t.Errorf("got error %v, expected NotFound naming the ConfigMap", err)
	}
	if errors.Unwrap(err) == nil {
		t.Error("expected a wrapped error")
	}
}

func FuzzParse(f *testing.F) {
	for _, content := range []string{
		"identity:get_user: role:admin\n", "\"a\": \"@\"\n'b': '!'\n", "a: 1\n", "a: x\na: y\n", "{a: b, c: d}", "? a\n: b\n",
		"a: &x y\nb: *x\n", "<<: {a: b}\n", "a: >\n  folded\n  text\n", "--- \n...\n---\n", "%YAML 1.1\n---\na: b\n",
		"a: \"\\x00\\u2028\\ufeff\"\n", "\xff\xfea\x00", "a: !!str 1\n", "a: !!binary aGk=\n",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		rules, err := Parse(content)
		if err != nil {
			return
		}
		text, err := Render(rules)
		if err != nil {
			t.Fatalf("%q parsed to %q, which does not render: %v", content, rules, err)
		}
		expectRules(t, text, rules)
	})
}

func FuzzRender(f *testing.F) {
	f.Add("identity:get_user", "role:admin")
	f.Add("a", "x\"\n\"b\": \"@")
	f.Add("a\": \"@\"\n\"b", "!")
	f.Add("? : - # &", "*a | > % @ `")
	f.Add("\ufeff", "\u2028\u0085\x7f\xff")
	f.Fuzz(func(t *testing.T, name, rule string) {
		rules := map[string]string{name: rule}
		text, err := Render(rules)
		if err != nil {
			return
		}
		expectRules(t, text, rules)
	})
}
