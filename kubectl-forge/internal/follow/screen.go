package follow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// nameWidth and stateWidth are the widths of the columns. A longer value shifts the
// next column only in its own line.
const (
	nameWidth  = 26
	stateWidth = 6
)

// screen shows views: as a table that is updated in place, or as a line for each
// change.
type screen struct {
	Options

	started time.Time
	printed map[string]string
	drawn   int
}

func newScreen(o Options) *screen {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &screen{Options: o, started: o.Clock(), printed: map[string]string{}}
}

func (s *screen) elapsed() string { return fmt.Sprintf("%.1f", s.Clock().Sub(s.started).Seconds()) }

func (s *screen) show(view View) {
	if s.Live {
		s.redraw(view)
		return
	}
	for _, row := range view.Rows {
		line := s.line(row, 0)
		if s.printed[row.Name] != line {
			fmt.Fprintf(s.Out, "[%6s s] %s\n", s.elapsed(), line)
			s.printed[row.Name] = line
		}
	}
}

// line is one row of at most width columns, of any length when width is 0.
func (s *screen) line(row Row, width int) string {
	name, state := fmt.Sprintf("%-*s ", nameWidth, row.Name), fmt.Sprintf("%-*s ", stateWidth, row.State)
	text := strings.Join(strings.Fields(row.Text), " ")
	if rest := width - len(name) - len(state); width > 0 && len([]rune(text)) > rest {
		text = string([]rune(text)[:max(rest-1, 0)]) + "…"
	}
	colour := show.StateColour(row.State)
	if row.Name != vocabulary.ConditionReady && slices.Contains(inventory.Summaries, row.Name) {
		colour = show.Yellow
	}
	return strings.TrimRight(name+s.Style.Paint(colour, state)+text, " ")
}

// redraw overwrites the previous table. A terminal of unknown width
// gets short lines, since wrapped lines would break the table.
func (s *screen) redraw(view View) {
	const indent, narrow = 2, 80
	width := s.Style.Width
	if width == 0 {
		width = narrow
	}
	var out strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA\x1b[J", s.drawn)
	}
	fmt.Fprintf(&out, "%s after %s s\n", view.Title, s.elapsed())
	for _, row := range view.Rows {
		fmt.Fprintf(&out, "%*s%s\n", indent, "", s.line(row, width-indent-1))
	}
	s.drawn = len(view.Rows) + 1
	fmt.Fprint(s.Out, out.String())
}
