package result

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Chart is a picture of how a measure grows with the size. Both axes are
// logarithmic: a measure that is proportional to the size is a straight line.
type Chart struct {
	Title, Unit string
	Lines       []Line
}

// Line is one measure of one scenario.
type Line struct {
	Name             string
	Scenario, Column string
}

// point is a median at a size.
type point struct{ size, value float64 }

// The picture in pixels: the plot has room for labels around it.
const (
	chartWidth, chartHeight  = 720.0, 400.0
	plotLeft, plotRight      = 70.0, 500.0
	plotTop, plotBottom      = 50.0, 350.0
	legendLeft, legendHeight = 520.0, 22.0
)

// colours can be distinguished with red-green colour blindness.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// SVG draws the chart, and returns false if there are fewer than two sizes to connect.
func (c Chart) SVG(t Table) (string, bool) {
	series := make([][]point, len(c.Lines))
	var all []point
	for i, line := range c.Lines {
		series[i] = t.points(line)
		all = append(all, series[i]...)
	}
	sizes := sizesOf(all)
	if len(sizes) < 2 {
		return "", false
	}
	x := axis{from: sizes[0], to: sizes[len(sizes)-1], start: plotLeft, end: plotRight}
	y := decades(all)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n",
		chartWidth, chartHeight)
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="white"/>`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, `<text x="%g" y="28" font-size="16">%s</text>`+"\n", plotLeft, html.EscapeString(c.Title+", "+c.Unit))
	grid(&b, x, y, sizes)
	for i, line := range c.Lines {
		draw(&b, x, y, series[i], colours[i%len(colours)], line.Name, plotTop+float64(i)*legendHeight)
	}
	b.WriteString("</svg>\n")
	return b.String(), true
}

// points returns the medians of a line by size. Values that are not above zero have no
// place on a logarithmic axis.
func (t Table) points(line Line) []point {
	var points []point
	for row, cells := range t {
		if spread, measured := cells[line.Column]; measured && row.Scenario == line.Scenario && row.Size > 0 && spread.Median > 0 {
			points = append(points, point{float64(row.Size), spread.Median})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.size, b.size) })
	return points
}

// sizesOf returns the sizes of the points, sorted and without duplicates.
func sizesOf(points []point) []float64 {
	sizes := make([]float64, len(points))
	for i, p := range points {
		sizes[i] = p.size
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// axis maps values to pixels.
type axis struct{ from, to, start, end float64 }

func (a axis) at(value float64) float64 {
	return a.start + (a.end-a.start)*(math.Log(value)-math.Log(a.from))/(math.Log(a.to)-math.Log(a.from))
}

// decades returns the axis of the values, from one power of ten to another.
func decades(points []point) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.value), max(high, p.value)
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if from == to {
		to++
	}
	return axis{from: math.Pow(10, from), to: math.Pow(10, to), start: plotBottom, end: plotTop}
}

// grid draws a line for each size and each power of ten.
func grid(b *strings.Builder, x, y axis, sizes []float64) {
	for _, size := range sizes {
		at := x.at(size)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%g" x2="%.1f" y2="%g" stroke="#ddd"/>`+"\n", at, plotTop, at, plotBottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%g" text-anchor="middle">%g</text>`+"\n", at, plotBottom+20, size)
	}
	for value := y.from; value <= y.to*1.001; value *= 10 {
		at := y.at(value)
		fmt.Fprintf(b, `<line x1="%g" y1="%.1f" x2="%g" y2="%.1f" stroke="#ddd"/>`+"\n", plotLeft, at, plotRight, at)
		fmt.Fprintf(b, `<text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n", plotLeft-8, at+4, math.Round(value*1000)/1000)
	}
}

// draw draws the points of one series with their legend.
func draw(b *strings.Builder, x, y axis, points []point, colour, name string, legend float64) {
	corners := make([]string, len(points))
	for i, p := range points {
		corners[i] = fmt.Sprintf("%.1f,%.1f", x.at(p.size), y.at(p.value))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"><title>%s: %g at %g</title></circle>`+"\n",
			x.at(p.size), y.at(p.value), colour, html.EscapeString(name), p.value, p.size)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(corners, " "), colour)
	fmt.Fprintf(b, `<rect x="%g" y="%g" width="14" height="4" fill="%s"/>`+"\n", legendLeft, legend+6, colour)
	fmt.Fprintf(b, `<text x="%g" y="%g">%s</text>`+"\n", legendLeft+20, legend+13, html.EscapeString(name))
}
