// Package source parses Go files for their string constants: the vocabulary of an API with
// its meanings.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// Constant is a string constant of a Go file.
type Constant struct {
	// Name is the constant's name.
	Name string
	// Value is the string value.
	Value string
	// Meaning is its comment without the name in front, as a sentence.
	Meaning string
}

// Constants returns the documented string constants of Go files, in their order. A
// constant that stands for one of another package is documented there and left out.
// It fails when one has no comment.
func Constants(paths ...string) ([]Constant, error) {
	var all []Constant
	for _, path := range paths {
		found, err := constantsOf(path)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func constantsOf(path string) ([]Constant, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var constants []Constant
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			if isAlias(spec) {
				continue
			}
			constant, err := constantOf(spec)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			constants = append(constants, constant)
		}
	}
	return constants, nil
}

// isAlias reports whether a constant has the value of one of another package.
func isAlias(spec ast.Spec) bool {
	values, ok := spec.(*ast.ValueSpec)
	if !ok || len(values.Values) != 1 {
		return false
	}
	_, ok = values.Values[0].(*ast.SelectorExpr)
	return ok
}

func constantOf(spec ast.Spec) (Constant, error) {
	values, ok := spec.(*ast.ValueSpec)
	if !ok || len(values.Names) != 1 || len(values.Values) != 1 {
		return Constant{}, fmt.Errorf("a constant must have one name and one value, found %v", spec)
	}
	name := values.Names[0].Name
	literal, ok := values.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return Constant{}, fmt.Errorf("%s must be a string literal", name)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return Constant{}, fmt.Errorf("%s: %w", name, err)
	}
	meaning := strings.Join(strings.Fields(values.Doc.Text()), " ")
	meaning, ok = strings.CutPrefix(meaning, name)
	if !ok {
		return Constant{}, fmt.Errorf("%s needs a comment that begins with its name", name)
	}
	return Constant{Name: name, Value: value, Meaning: sentence(meaning)}, nil
}

func sentence(text string) string {
	text = strings.TrimLeft(text, ": ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
