package pages

import (
	"bytes"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/metric"
)

func TestTheMetricsAreListedWithWhatTheirLabelsMean(t *testing.T) {
	hull := metric.Label{Name: "hull", Meaning: "`steel` or `wood`"}
	definitions := []metric.Definition{
		{Name: "boat_speed_knots", Type: metric.Gauge, Help: "Speed | through water.", Labels: []metric.Label{metric.Name, hull}},
		{Name: "boat_leaks_total", Type: metric.Counter, Help: "Leaks found.", Labels: []metric.Label{hull}},
		{Name: "boats", Type: metric.Gauge, Help: "Boats."},
	}
	var out bytes.Buffer
	if err := (Page{Title: "Boat metrics", Command: "make boats"}).WriteMetrics(&out, definitions); err != nil {
		t.Fatal(err)
	}
	golden(t, "metrics.md", out.Bytes())
}

func TestAMetricWithoutExactlyOneExplanationIsRejected(t *testing.T) {
	leaks := metric.Definition{Name: "boat_leaks_total", Help: "Leaks found."}
	for name, c := range map[string]struct {
		definitions []metric.Definition
		message     string
	}{
		"twice":          {[]metric.Definition{leaks, leaks}, "boat_leaks_total must be defined once"},
		"no help":        {[]metric.Definition{{Name: "boats"}}, "boats must be defined once, with a help text"},
		"a silent label": {[]metric.Definition{{Name: "a", Help: "A.", Labels: []metric.Label{{Name: "hull"}}}}, "label hull of metric a"},
		"a label for two": {[]metric.Definition{
			{Name: "a", Help: "A.", Labels: []metric.Label{{Name: "x", Meaning: "y"}, {Name: "x", Meaning: "z"}}},
		}, "one meaning"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Page{}.WriteMetrics(&bytes.Buffer{}, c.definitions)
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("want %q, got %v", c.message, err)
			}
		})
	}
}
