package result

import (
	"fmt"
	"os"
	"strings"
)

// marks returns the lines of a page that enclose a table.
func marks(name string) (begin, end string) {
	return "<!-- bench " + name + " -->\n", "<!-- /bench " + name + " -->\n"
}

// Page is a Markdown page that contains tables.
type Page struct {
	// before and after are the texts around one table, with the lines that enclose it.
	before, after string
	// Table is its content.
	Table Table
}

// ReadPage reads a page and its table with the given name.
func ReadPage(path, name string) (Page, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Page{}, fmt.Errorf("read what was measured before: %w", err)
	}
	begin, end := marks(name)
	before, rest, begins := strings.Cut(string(content), begin)
	middle, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return Page{}, fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	table, err := Parse(middle)
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", path, err)
	}
	return Page{before: before + begin, after: end + after, Table: table}, nil
}

// Write writes the page with the current table.
func (p Page) Write(path string, columns []Column, scenarios []string) error {
	content := p.before + p.Table.Markdown(columns, scenarios) + p.after
	return os.WriteFile(path, []byte(content), 0o644)
}
