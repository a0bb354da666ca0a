// Package show writes reports for people and for programs.
package show

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
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

// The colours.
const (
	Plain  Colour = 0
	Bold   Colour = 1
	Red    Colour = 31
	Green  Colour = 32
	Yellow Colour = 33
	Grey   Colour = 90
)

// colours are those of the states, results and statuses that are shown. All others are yellow.
var colours = map[string]Colour{
	"OK": Green, "True": Green, "Done": Green, "Failed": Red, "False": Red, "Unknown": Grey,
}

// StateColour returns the colour of a state, a result or a status.
func StateColour(state string) Colour {
	if colour, known := colours[state]; known {
		return colour
	}
	return Yellow
}

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
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			switch {
			case line == "":
				line = indent + word
			case s.Width > 0 && utf8.RuneCountInString(line+" "+word) > s.Width:
				out.WriteString(line + "\n")
				line = indent + word
			default:
				line += " " + word
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// cell is a part of a row, padded before it is painted.
type cell struct {
	text   string
	colour Colour
}

// table writes rows in columns of equal width.
func (s Style) table(out io.Writer, indent string, rows [][]cell) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(s.Paint(c.colour, c.text) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		}
		fmt.Fprintln(out, indent+strings.TrimRight(line.String(), " "))
	}
}
