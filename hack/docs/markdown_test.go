package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Page is a page of the documentation.
type Page struct {
	// Path is the page's file, relative to the top of the checkout.
	Path string
	// Blocks are its fenced code blocks, Spans the inline code in its text.
	Blocks, Spans []Code
}

// Code is a piece of code on a page.
type Code struct {
	// Page and Line are the position at which it begins.
	Page string
	Line int
	// Language is the first word after the fence, and Mark the rest of that line, such
	// as "merge=Keystone". Spans have neither.
	Language, Mark string
	// Text is the code itself.
	Text string
}

// String returns the position of the code.
func (c Code) String() string { return fmt.Sprintf("%s:%d", c.Page, c.Line) }

// ReadPage reads the page at a path below the root.
func ReadPage(root, path string) (Page, error) {
	source, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return Page{}, err
	}
	return parsePage(path, source)
}

func parsePage(path string, source []byte) (Page, error) {
	page := Page{Path: path}
	tree := goldmark.DefaultParser().Parse(text.NewReader(source))
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			page.Blocks = append(page.Blocks, blockOf(path, node, source))
		case *ast.CodeSpan:
			page.Spans = append(page.Spans, spanOf(path, node, source))
		}
		return ast.WalkContinue, nil
	})
	return page, err
}

func blockOf(path string, node *ast.FencedCodeBlock, source []byte) Code {
	code := Code{Page: path, Line: 1}
	if node.Info != nil {
		code.Language, code.Mark, _ = strings.Cut(string(node.Info.Segment.Value(source)), " ")
		code.Line = lineAt(source, node.Info.Segment.Start)
	}
	code.Text = string(node.Lines().Value(source))
	return code
}

func spanOf(path string, node *ast.CodeSpan, source []byte) Code {
	code := Code{Page: path}
	var all strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if part, ok := child.(*ast.Text); ok {
			if code.Line == 0 {
				code.Line = lineAt(source, part.Segment.Start)
			}
			all.Write(part.Segment.Value(source))
		}
	}
	// A span may contain a line break, and a pipe in a table is escaped.
	code.Text = strings.NewReplacer("\n", " ", `\|`, "|").Replace(all.String())
	return code
}

func lineAt(source []byte, offset int) int {
	return strings.Count(string(source[:offset]), "\n") + 1
}
