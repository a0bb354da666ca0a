// Package result stores measurements, compares them with the committed ones,
// and shows them as a table.
package result

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Column is one measure of a scenario.
type Column struct {
	// Name is the heading.
	Name string `json:"name"`
	// Timed marks what depends on the speed and the load of the machine.
	Timed bool `json:"timed"`
	// Digits is the number of digits after the decimal point.
	Digits int `json:"digits"`
}

// Row is one scenario at one size.
type Row struct {
	Scenario string `json:"scenario"`
	// Size is the number of resources, or of a resource's pods.
	Size int `json:"size"`
}

// Spread summarises the values of several runs.
type Spread struct{ Min, Median, Max float64 }

// SpreadOf summarises at least one sample.
func SpreadOf(samples []float64) Spread {
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{Min: sorted[0], Median: median, Max: sorted[len(sorted)-1]}
}

// text returns the spread as a cell, a single number if all runs agree.
func (s Spread) text(digits int) string {
	number := func(value float64) string { return strconv.FormatFloat(value, 'f', digits, 64) }
	if number(s.Min) == number(s.Max) {
		return number(s.Median)
	}
	return number(s.Min) + " / " + number(s.Median) + " / " + number(s.Max)
}

// parseSpread parses a cell: one number, or minimum, median and maximum.
func parseSpread(cell string) (Spread, error) {
	parts := strings.Split(cell, "/")
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		var err error
		if numbers[i], err = strconv.ParseFloat(strings.TrimSpace(part), 64); err != nil {
			return Spread{}, fmt.Errorf("cell %q: %w", cell, err)
		}
	}
	switch len(numbers) {
	case 1:
		return Spread{numbers[0], numbers[0], numbers[0]}, nil
	case 3:
		return Spread{numbers[0], numbers[1], numbers[2]}, nil
	}
	return Spread{}, fmt.Errorf("cell %q has %d numbers, want one or three", cell, len(numbers))
}

// Table holds the spread of each scenario at each size, by column.
type Table map[Row]map[string]Spread

// Samples collects the values of single runs.
type Samples map[Row]map[string][]float64

// Add adds the value of one run.
func (s Samples) Add(row Row, column string, value float64) {
	if s[row] == nil {
		s[row] = map[string][]float64{}
	}
	s[row][column] = append(s[row][column], value)
}

// Table summarises all runs.
func (s Samples) Table() Table {
	t := Table{}
	for row, columns := range s {
		t[row] = map[string]Spread{}
		for column, samples := range columns {
			t[row][column] = SpreadOf(samples)
		}
	}
	return t
}

// Rows returns the rows by size, in the order of the scenarios.
func (t Table) Rows(scenarios []string) []Row {
	return slices.SortedFunc(maps.Keys(t), func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size),
			cmp.Compare(slices.Index(scenarios, a.Scenario), slices.Index(scenarios, b.Scenario)), cmp.Compare(a.Scenario, b.Scenario))
	})
}

// none marks what was not measured.
const none = "–"

// Markdown returns the table with a line for each row, which [Parse] reads.
func (t Table) Markdown(columns []Column, scenarios []string) string {
	var b strings.Builder
	b.WriteString("| Scenario | Size |")
	for _, column := range columns {
		fmt.Fprintf(&b, " %s |", column.Name)
	}
	b.WriteString("\n|---|---:|" + strings.Repeat("---:|", len(columns)) + "\n")
	for _, row := range t.Rows(scenarios) {
		fmt.Fprintf(&b, "| %s | %d |", row.Scenario, row.Size)
		for _, column := range columns {
			cell := none
			if spread, measured := t[row][column.Name]; measured {
				cell = spread.text(column.Digits)
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Parse parses a table that [Table.Markdown] has written. Other lines are ignored.
func Parse(markdown string) (Table, error) {
	t := Table{}
	var header []string
	for line := range strings.Lines(markdown) {
		cells := split(line)
		switch {
		case len(cells) < 2 || strings.HasPrefix(cells[0], "---"):
		case cells[0] == "Scenario":
			header = cells
		case len(cells) != len(header):
			return nil, fmt.Errorf("line %q has %d cells, its heading %d", strings.TrimSpace(line), len(cells), len(header))
		default:
			if err := t.parse(header, cells); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t Table) parse(header, cells []string) error {
	size, err := strconv.Atoi(cells[1])
	if err != nil {
		return fmt.Errorf("size of %s: %w", cells[0], err)
	}
	row := Row{cells[0], size}
	t[row] = map[string]Spread{}
	for i := 2; i < len(cells); i++ {
		if cells[i] == none {
			continue
		}
		if t[row][header[i]], err = parseSpread(cells[i]); err != nil {
			return fmt.Errorf("%s of %s: %w", header[i], cells[0], err)
		}
	}
	return nil
}

// split returns the cells of a line of a table, nil for another line.
func split(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// Merge adopts new measurements. Without timed, columns that depend on
// the speed of the machine stay as they were.
func (t Table) Merge(fresh Table, columns []Column, timed bool) Table {
	merged := Table{}
	for row, cells := range t {
		merged[row] = maps.Clone(cells)
	}
	for row, cells := range fresh {
		if merged[row] == nil {
			merged[row] = map[string]Spread{}
		}
		for _, column := range columns {
			if column.Timed && !timed {
				continue
			}
			if spread, measured := cells[column.Name]; measured {
				merged[row][column.Name] = spread
			}
		}
	}
	return merged
}

// Compare shows the previous value for each cell that was measured, one line per
// row.
func (t Table) Compare(committed Table, columns []Column, scenarios []string) string {
	var b strings.Builder
	for _, row := range t.Rows(scenarios) {
		fmt.Fprintf(&b, "%s, %d:", row.Scenario, row.Size)
		for i, column := range columns {
			spread, measured := t[row][column.Name]
			if !measured {
				continue
			}
			fmt.Fprintf(&b, "\n  %-*s %s", width(columns), columns[i].Name, spread.text(column.Digits))
			if before, known := committed[row][column.Name]; known {
				fmt.Fprintf(&b, "  (committed: %s%s)", before.text(column.Digits), change(before.Median, spread.Median))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// width returns the width of the widest column name.
func width(columns []Column) int {
	widest := 0
	for _, column := range columns {
		widest = max(widest, len([]rune(column.Name)))
	}
	return widest
}

// change returns by how much a median differs, nothing for less than a hundredth.
func change(before, after float64) string {
	if before == 0 {
		return ""
	}
	percent := (after - before) / before * 100
	if percent > -1 && percent < 1 {
		return ""
	}
	return fmt.Sprintf(", %+.0f %%", percent)
}
