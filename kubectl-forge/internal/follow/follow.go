// Package follow shows the progress of an operation until it has finished.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// Row is a line of a view. It replaces an earlier row with the same name.
type Row struct {
	Name string
	// State is a word, which also decides about its colour.
	State string
	Text  string
}

// View is a snapshot of the progress.
type View struct {
	Title string
	Rows  []Row
	// Done is set when the operation has succeeded.
	Done bool
	// Failed is set when the operation cannot succeed by itself.
	Failed error
}

// Ready is the view of an object that becomes ready.
func Ready(ref inventory.Ref, obj inventory.Conditioned) View {
	conditions := obj.GetConditions()
	return View{
		Title: fmt.Sprintf("%s in %s", ref.Arg(), ref.Namespace), Rows: ConditionRows(conditions),
		Done: meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady) && inventory.IsCurrent(obj),
	}
}

// ConditionRows returns the rows of conditions, or of those with the names. The message of a condition that
// summarises the others is omitted.
func ConditionRows(conditions []metav1.Condition, names ...string) []Row {
	rows := make([]Row, 0, len(conditions))
	for _, condition := range conditions {
		if len(names) > 0 && !slices.Contains(names, condition.Type) {
			continue
		}
		row := Row{Name: condition.Type, State: string(condition.Status), Text: condition.Reason}
		if condition.Status != metav1.ConditionTrue && !slices.Contains(inventory.Summaries, condition.Type) {
			row.Text += ": " + condition.Message
		}
		rows = append(rows, row)
	}
	return rows
}

// Options determine where and how often views are shown.
type Options struct {
	Out   io.Writer
	Style show.Style
	// Live redraws a table in place instead of writing a line for each change.
	Live bool
	// Interval is the polling interval.
	Interval time.Duration
	// Timeout is the maximum duration; 0 means no limit.
	Timeout time.Duration
	// Temporary reports whether an error of a look is transient, as when the
	// API server restarts. It may be nil.
	Temporary func(error) bool
	// Clock is [time.Now] except in tests.
	Clock func() time.Time
}

// Look returns the current view. An error stops the following.
type Look func(ctx context.Context) (View, error)

// patience is the number of consecutive looks that may fail with a temporary error.
const patience = 30

// ErrTimeout reports that the operation has not finished in time.
var ErrTimeout = errors.New("timed out")

// Until shows views until one is done or failed, the timeout expires or the context
// is cancelled.
func Until(ctx context.Context, o Options, look Look) error {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("%w after %s", ErrTimeout, o.Timeout))
		defer cancel()
	}
	screen := newScreen(o)
	ticker := time.NewTicker(o.Interval)
	defer ticker.Stop()
	for failures := 0; ; {
		view, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			failures = 0
			screen.show(view)
		case failures < patience && o.Temporary != nil && o.Temporary(err):
			failures++
		default:
			return err
		}
		switch {
		case view.Failed != nil:
			return view.Failed
		case view.Done && err == nil:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

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
