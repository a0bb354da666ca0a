// Package progress reports to the user what the cluster is doing, how
// long each stage took and, if one fails, the end of its log.
package progress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// tailLines is how many lines of a log a failure shows: enough for the error and
// what led to it, few enough to read.
const tailLines = 20

// LogError is an error whose cause is in a log file.
type LogError struct {
	Err error
	Log string // path of the log file
}

func (e *LogError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its log.
func (e *LogError) Unwrap() error { return e.Err }

// WithLog attaches the path of a log to err; a nil err stays nil.
func WithLog(err error, log string) error {
	if err == nil {
		return nil
	}
	return &LogError{Err: err, Log: log}
}

// Reporter prints one line when a stage starts and one when it ends.
type Reporter struct {
	out   io.Writer
	now   func() time.Time
	start time.Time
}

// NewReporter returns a reporter whose clock starts now.
func NewReporter(out io.Writer) *Reporter {
	return newReporter(out, time.Now)
}

func newReporter(out io.Writer, now func() time.Time) *Reporter {
	return &Reporter{out: out, now: now, start: now()}
}

// Stage runs fn and reports its name, the time since the reporter was created and
// the duration of fn. Errors are prefixed with the name of the stage.
func (r *Reporter) Stage(name string, fn func() error) error {
	began := r.now()
	r.printf("%s ...", name)
	if err := fn(); err != nil {
		r.printf("%s failed after %s", name, seconds(r.now().Sub(began)))
		return fmt.Errorf("%s: %w", name, err)
	}
	r.printf("%s took %s", name, seconds(r.now().Sub(began)))
	return nil
}

// Note prints one line of information.
func (r *Reporter) Note(format string, args ...any) {
	r.printf(format, args...)
}

// Elapsed is the time since the reporter was created, rounded for display.
func (r *Reporter) Elapsed() string {
	return seconds(r.now().Sub(r.start))
}

func (r *Reporter) printf(format string, args ...any) {
	fmt.Fprintf(r.out, "[%7s] %s\n", seconds(r.now().Sub(r.start)), fmt.Sprintf(format, args...))
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Explain prints err and, if one is attached, the end of its log with the
// log's path.
func Explain(out io.Writer, err error) {
	fmt.Fprintf(out, "error: %v\n", err)
	var withLog *LogError
	if !errors.As(err, &withLog) {
		return
	}
	lines, readErr := tail(withLog.Log, tailLines)
	if readErr != nil {
		fmt.Fprintf(out, "its log cannot be read: %v\n", readErr)
		return
	}
	fmt.Fprintf(out, "last lines of %s:\n", withLog.Log)
	for _, line := range lines {
		fmt.Fprintf(out, "  %s\n", line)
	}
}

// tail returns the last n lines of a file.
func tail(path string, n int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
		if len(lines) > n {
			lines = lines[1:]
		}
	}
	return lines, scanner.Err()
}
