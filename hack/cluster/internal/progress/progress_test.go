package progress

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryStageReportsItsStartAndDuration(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	report := newReporter(&out, func() time.Time { return clock })
	cause := errors.New("no room")
	_ = report.Stage("First", func() error { clock = clock.Add(1500 * time.Millisecond); return nil })
	err := report.Stage("Second", func() error { clock = clock.Add(70 * time.Second); return cause })
	report.Note("Over after %s.", report.Elapsed())
	want := `[  0.0 s] First ...
[  1.5 s] First took 1.5 s
[  1.5 s] Second ...
[ 71.5 s] Second failed after 70.0 s
[ 71.5 s] Over after 71.5 s.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if !errors.Is(err, cause) || err.Error() != "Second: no room" {
		t.Errorf("error = %v, want the cause behind the stage's name", err)
	}
}

func TestAFailureShowsTheEndOfItsLogAndThePath(t *testing.T) {
	log := filepath.Join(t.TempDir(), "kubelet.log")
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	if err := os.WriteFile(log, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	Explain(&out, fmt.Errorf("stage: %w", WithLog(errors.New("it broke"), log)))
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != tailLines+2 {
		t.Fatalf("%d lines, want %d:\n%s", len(got), tailLines+2, out.String())
	}
	want := []string{"error: stage: it broke", "last lines of " + log + ":", "  line 30"}
	if diff := cmp.Diff(want, got[:3]); diff != "" {
		t.Errorf("first lines (-want +got):\n%s", diff)
	}
	if last := got[len(got)-1]; last != "  line 49" {
		t.Errorf("last line = %q", last)
	}
}

func TestALogThatIsGoneDoesNotHideTheError(t *testing.T) {
	var out strings.Builder
	Explain(&out, WithLog(errors.New("it broke"), filepath.Join(t.TempDir(), "none")))
	if !strings.HasPrefix(out.String(), "error: it broke\nits log cannot be read: ") {
		t.Errorf("output = %q", out.String())
	}
}

func TestNoErrorHasNoLog(t *testing.T) {
	if err := WithLog(nil, "x"); err != nil {
		t.Errorf("WithLog(nil) = %v", err)
	}
}
