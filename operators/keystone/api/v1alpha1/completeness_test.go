package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/rules"
)

func TestEveryRuleHasAViolation(t *testing.T) {
	for _, r := range table {
		if !slices.ContainsFunc(violations(), func(v violation) bool { return r.Covers(v.path) }) {
			t.Errorf("no violation breaks the rule of %s: add one to violations()", r.Path)
		}
	}
	for _, immutable := range immutables {
		if _, found := changeOf(immutable.Path); !found {
			t.Errorf("no change breaks the rule that %s is immutable: add one to immutableChanges()", immutable.Path)
		}
	}
}

func changeOf(path string) (violation, bool) {
	for _, change := range immutableChanges() {
		if change.path == path {
			return change, true
		}
	}
	return violation{}, false
}

func TestEveryViolationBelongsToARule(t *testing.T) {
	for _, v := range violations() {
		if !slices.ContainsFunc(table, func(r rules.Rule[*Keystone]) bool { return r.Covers(v.path) }) {
			t.Errorf("%s: no rule is about %s", v.name, v.path)
		}
	}
}

// refusals are the errors that validation can give, as its source has them.
type refusals struct {
	// texts matches each message that stands in the source.
	texts []*regexp.Regexp
	// kinds counts the calls of field's constructors that bring their own text.
	kinds map[string]int
}

func (r *refusals) add(t *testing.T, file string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		selector, isSelector := call.Fun.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		of, _ := selector.X.(*ast.Ident)
		switch {
		case of == nil:
		case of.Name == "field" && (selector.Sel.Name == "NotSupported" || selector.Sel.Name == "Duplicate"):
			r.kinds[selector.Sel.Name]++
		case of.Name == "field" && (selector.Sel.Name == "Invalid" || selector.Sel.Name == "Required"),
			of.Name == "errors" && selector.Sel.Name == "New":
			r.addText(t, call.Args[len(call.Args)-1])
		}
		return true
	})
}

// addText takes a string, a sum of strings or a format; whatever is variable in
// it may be anything.
func (r *refusals) addText(t *testing.T, expression ast.Expr) {
	t.Helper()
	if call, isCall := expression.(*ast.CallExpr); isCall && len(call.Args) > 0 {
		expression = call.Args[0]
	}
	text := literal(t, expression)
	if text == "" {
		return
	}
	pattern := regexp.MustCompile(`%[a-z]`).ReplaceAllString(regexp.QuoteMeta(text), ".*")
	r.texts = append(r.texts, regexp.MustCompile(pattern))
}

func literal(t *testing.T, expression ast.Expr) string {
	t.Helper()
	switch e := expression.(type) {
	case *ast.BinaryExpr:
		return literal(t, e.X) + literal(t, e.Y)
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return ""
		}
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	return ""
}

// unbreakable is a message that no Keystone from the API can provoke: JSON
// carries no other text.
const unbreakable = " must be valid UTF-8"

func TestEveryRefusalInTheSourceHasAViolation(t *testing.T) {
	const common = "../../../../internal/common"
	own, err := filepath.Glob("validation*.go")
	if err != nil {
		t.Fatal(err)
	}
	source := &refusals{kinds: map[string]int{}}
	for _, file := range append(own, common+"/types/validation.go", common+"/rules/rules.go", common+"/config/validate.go") {
		if !strings.HasSuffix(file, "_test.go") {
			source.add(t, file)
		}
	}
	if len(source.texts) < 50 {
		t.Fatalf("found only %d messages in the source", len(source.texts))
	}
	given, kinds := givenErrors()
	for _, text := range source.texts {
		if !text.MatchString(given) && text.String() != unbreakable {
			t.Errorf("no violation leads to the error %q: add one to violations()", text)
		}
	}
	for kind, calls := range source.kinds {
		if len(kinds[kind]) < calls {
			t.Errorf("field.%s is called in %d places, but violations lead to it at %d fields only", kind, calls, len(kinds[kind]))
		}
	}
}

// givenErrors returns the text of all errors that the violations lead to, and
// the fields of those whose text is field's own.
func givenErrors() (texts string, kinds map[string]map[string]bool) {
	kinds = map[string]map[string]bool{"NotSupported": {}, "Duplicate": {}}
	names := map[string]string{"FieldValueNotSupported": "NotSupported", "FieldValueDuplicate": "Duplicate"}
	var all []string
	for _, v := range append(violations(), emptySchedules()...) {
		for _, err := range Validate(defaulted(v.apply())) {
			all = append(all, err.Error())
			if name := names[string(err.Type)]; name != "" {
				kinds[name][err.Field] = true
			}
		}
	}
	for _, change := range immutableChanges() {
		all = append(all, change.message)
	}
	return strings.Join(all, "\n"), kinds
}

func TestEveryRuleOfTheSchemaHasAViolation(t *testing.T) {
	var stated []string
	for _, v := range violations() {
		stated = append(stated, v.schema)
	}
	for _, change := range immutableChanges() {
		stated = append(stated, change.message)
	}
	for _, n := range specNodes(t) {
		for _, rule := range n.schema.XValidations {
			if !slices.ContainsFunc(stated, func(text string) bool { return text != "" && strings.Contains(rule.Message, text) }) {
				t.Errorf("%s: no violation breaks %q", n.path, rule.Message)
			}
		}
		if len(n.schema.XListMapKeys) > 0 && !slices.ContainsFunc(violations(), func(v violation) bool {
			return strings.HasPrefix(v.path, n.path+"[") && v.schema == "Duplicate value"
		}) {
			t.Errorf("%s: no violation repeats the key of an entry", n.path)
		}
	}
}

// sameAsNothing are fields whose Go type cannot tell the value that the schema
// refuses from one that is not set.
var sameAsNothing = []string{"spec.database.port minimum", "spec.federation.enabled required"}

func TestWhatTheSchemaRefusesTheOperatorRefuses(t *testing.T) {
	all := bounds(t)
	if len(all) < 80 {
		t.Fatalf("found only %d bounds in the schema", len(all))
	}
	for _, b := range all {
		if b.limitsSize() || slices.Contains(sameAsNothing, b.String()) {
			continue
		}
		broken := b.breakIn(t)
		withDefaults := defaulted(broken)
		before, _ := valueAt(toMap(t, broken), b.path)
		if after, _ := valueAt(toMap(t, withDefaults), b.path); !cmp.Equal(before, after) {
			continue
		}
		if len(Validate(withDefaults)) == 0 {
			t.Errorf("%s: the operator accepts what the schema refuses", b)
		}
	}
}
