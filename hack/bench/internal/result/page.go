package result

import (
	"fmt"
	"os"
	"strings"
)

// The lines of a page that enclose the table.
const (
	beginTable = "<!-- bench -->\n"
	endTable   = "<!-- /bench -->\n"
)

// Page is a Markdown page that contains the table.
type Page struct {
	before, after string
	// Table is its content.
	Table Table
}

// ReadPage reads a page.
func ReadPage(path string) (Page, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Page{}, fmt.Errorf("read what was measured before: %w", err)
	}
	before, rest, begins := strings.Cut(string(content), beginTable)
	middle, after, ends := strings.Cut(rest, endTable)
	if !begins || !ends {
		return Page{}, fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(beginTable), strings.TrimSpace(endTable))
	}
	table, err := Parse(middle)
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", path, err)
	}
	return Page{before: before, after: after, Table: table}, nil
}

// Write writes the page with the current table.
func (p Page) Write(path string, columns []Column, scenarios []string) error {
	content := p.before + beginTable + p.Table.Markdown(columns, scenarios) + endTable + p.after
	return os.WriteFile(path, []byte(content), 0o644)
}
