package apitest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// repository is the prefix of all import paths of the checkout.
const repository = "github.com/c5c3/forge/"

// EveryRefusalInTheSourceHasAViolation checks that the violations of the kinds
// cause every error that the Go files matching the pattern, and the functions of
// the internal packages that they call, can return. unbreakable lists the messages
// that no object from the API can cause.
func (kinds Kinds) EveryRefusalInTheSourceHasAViolation(t *testing.T, pattern string, unbreakable ...string) {
	t.Helper()
	var given field.ErrorList
	for _, kind := range kinds {
		given = append(given, kind.givenErrors()...)
	}
	found := &refusals{root: "../../../..", kinds: map[field.ErrorType]int{}, packages: map[string]sources{}}
	found.addFiles(t, pattern)
	report(t, found.missing(given, unbreakable))
}

// textOfField lists the constructors of package field that supply the text of their
// errors.
var textOfField = map[string]field.ErrorType{
	"NotSupported": field.ErrorTypeNotSupported, "Duplicate": field.ErrorTypeDuplicate, "TooLongMaxLength": field.ErrorTypeTooLong,
}

// refusals are the errors that validation can return, according to its source.
type refusals struct {
	// root is the folder of the checkout.
	root string
	// texts are the messages in the source, with %s for variable parts.
	texts []string
	// kinds counts the calls of the constructors in textOfField.
	kinds map[field.ErrorType]int
	// packages are the internal packages by path, without the functions that were
	// processed already.
	packages map[string]sources
}

// sources are the functions of a package.
type sources map[string]function

type function struct {
	declaration *ast.FuncDecl
	imports     map[string]string
}

// missing describes the refusals that match none of the errors.
func (r *refusals) missing(given field.ErrorList, unbreakable []string) (problems []string) {
	var texts []string
	fields := map[field.ErrorType]map[string]bool{}
	for _, err := range given {
		texts = append(texts, err.Error())
		if fields[err.Type] == nil {
			fields[err.Type] = map[string]bool{}
		}
		fields[err.Type][err.Field] = true
	}
	all := strings.Join(texts, "\n")
	for _, text := range r.texts {
		pattern := regexp.MustCompile(`%[a-z]`).ReplaceAllString(regexp.QuoteMeta(text), ".*")
		if !regexp.MustCompile(pattern).MatchString(all) && !slices.Contains(unbreakable, text) {
			problems = append(problems, "no violation leads to the error "+strconv.Quote(text)+": add one")
		}
	}
	for kind, calls := range r.kinds {
		if len(fields[kind]) < calls {
			problems = append(problems, strconv.Itoa(calls)+" places give the error "+strconv.Quote(string(kind))+
				", but violations lead to it at "+strconv.Itoa(len(fields[kind]))+" fields only")
		}
	}
	return problems
}

// addFiles processes all functions of the files.
func (r *refusals) addFiles(t testing.TB, pattern string) {
	t.Helper()
	own := parse(t, pattern)
	if len(own) == 0 {
		t.Fatalf("found no functions in %s", pattern)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		r.addFunction(t, own[name], nil)
	}
}

// addInternal processes a function of an internal package once.
func (r *refusals) addInternal(t testing.TB, path, name string) {
	t.Helper()
	if r.packages[path] == nil {
		folder := filepath.Join(r.root, strings.TrimPrefix(path, repository))
		if _, err := os.Stat(outside.File(folder)); err != nil {
			t.Fatal(err)
		}
		r.packages[path] = parse(t, filepath.Join(folder, "*.go"))
	}
	if found, known := r.packages[path][name]; known {
		delete(r.packages[path], name)
		r.addFunction(t, found, func(other string) { r.addInternal(t, path, other) })
	}
}

// addFunction collects the errors in a function, and processes the functions that
// it refers to: those of internal packages, and those of its own package with
// own, unless own is nil because they are processed anyway.
func (r *refusals) addFunction(t testing.TB, f function, own func(name string)) {
	t.Helper()
	ast.Inspect(f.declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			r.addCall(t, n)
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			if of != nil && isInternal(f.imports[of.Name]) {
				r.addInternal(t, f.imports[of.Name], n.Sel.Name)
			}
		case *ast.Ident:
			if own != nil {
				own(n.Name)
			}
		}
		return true
	})
}

// isInternal reports whether a package is one of the checkout that no API is made of.
func isInternal(path string) bool {
	folder, ours := strings.CutPrefix(path, repository)
	return ours && strings.Contains("/"+folder, "/internal/")
}

func (r *refusals) addCall(t testing.TB, call *ast.CallExpr) {
	t.Helper()
	selector, _ := call.Fun.(*ast.SelectorExpr)
	if selector == nil {
		return
	}
	of, _ := selector.X.(*ast.Ident)
	switch name := selector.Sel.Name; {
	case of == nil:
	case of.Name == "field" && textOfField[name] != "":
		r.kinds[textOfField[name]]++
	case of.Name == "field" && (name == "Invalid" || name == "Required"), of.Name == "errors" && name == "New":
		if text := message(t, call.Args[len(call.Args)-1]); text != "" {
			r.texts = append(r.texts, text)
		}
	}
}

// message returns the text of a string, a concatenation or a format; it is empty if
// the source does not contain the text.
func message(t testing.TB, expression ast.Expr) string {
	t.Helper()
	switch e := expression.(type) {
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			return message(t, e.Args[0])
		}
	case *ast.BinaryExpr:
		return message(t, e.X) + message(t, e.Y)
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil || e.Kind != token.STRING {
			return ""
		}
		return text
	}
	return ""
}

// parse returns the functions of the Go files that match the pattern, without tests.
func parse(t testing.TB, pattern string) sources {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	all := sources{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		imports := importsOf(parsed)
		for _, declaration := range parsed.Decls {
			if f, isFunction := declaration.(*ast.FuncDecl); isFunction {
				all[f.Name.Name] = function{f, imports}
			}
		}
	}
	return all
}

// importsOf maps the names of a file's imports to their paths.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = path
	}
	return imports
}
