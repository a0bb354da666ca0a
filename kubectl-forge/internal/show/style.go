// Package show writes reports for people and for programs.
package show

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Style describes what the output supports.
type Style struct {
	// Terminal is set if text can be redrawn.
	Terminal bool
	// Colour is set if escape sequences are understood.
	Colour bool
	// Width is the number of columns, 0 when lines may have any length.
	Width int
}

// StyleOf returns the style of a writer. Only a terminal gets colours, and none
// when NO_COLOR is set (https://no-color.org) or the terminal is a dumb one.
func StyleOf(out io.Writer) Style {
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return Style{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	dumb := os.Getenv("TERM") == "dumb"
	return Style{Terminal: !dumb, Colour: !dumb && os.Getenv("NO_COLOR") == "", Width: width}
}

// Colour is a colour of a terminal.
type Colour int

// The colours, and what they stand for.
const (
	Plain  Colour = 0
	Bold   Colour = 1
	Red    Colour = 31
	Green  Colour = 32
	Yellow Colour = 33
	Grey   Colour = 90
)

// Paint colours the text if the style has colours.
func (s Style) Paint(colour Colour, text string) string {
	if !s.Colour || colour == Plain || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}

// wrap breaks the text into lines of the style's width that start with the
// indentation. A word that is too long stays whole, so that it can be copied.
func (s Style) wrap(indent, text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		column := 0
		for word := range strings.FieldsSeq(line) {
			length := utf8.RuneCountInString(word)
			switch {
			case column == 0:
				out.WriteString(indent)
				column = utf8.RuneCountInString(indent)
			case s.Width > 0 && column+1+length > s.Width:
				out.WriteString("\n" + indent)
				column = utf8.RuneCountInString(indent)
			default:
				out.WriteString(" ")
				column++
			}
			out.WriteString(word)
			column += length
		}
		out.WriteString("\n")
	}
	return out.String()
}

// cell is a part of a row, padded before it is painted.
type cell struct {
	text   string
	colour Colour
}

func widthsOf(rows [][]cell) (widths []int) {
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

// table writes rows in columns of equal width. The last cell is not padded.
func (s Style) table(out io.Writer, indent string, rows [][]cell) {
	widths := widthsOf(rows)
	for _, row := range rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, c := range row {
			line.WriteString(s.Paint(c.colour, c.text))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// age returns how long ago something was, in kubectl's format. A time from
// another clock may be in the future.
func age(since *metav1.Time, now time.Time) string {
	if since == nil || since.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(since.Time), 0))
}
