package scenario

import (
	"slices"

	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/hack/bench/internal/result"
)

// Charts are the pictures next to an operator's table, by file name.
func Charts(o *operators.Operator) map[string]result.Chart {
	charts := charts(o)
	for name, chart := range charts {
		chart.Lines = slices.DeleteFunc(chart.Lines, func(l result.Line) bool { return Unknown(o, []string{l.Scenario}) != "" })
		charts[name] = chart
	}
	return charts
}

func charts(o *operators.Operator) map[string]result.Chart {
	line := func(name, scenario, column string) result.Line {
		return result.Line{Name: name, Scenario: scenario, Column: column}
	}
	return map[string]result.Chart{
		"memory": {Title: "Memory of the operator", Unit: "MiB", Lines: []result.Line{
			line("creating, peak", "create", columnPeak),
			line("then settled", "create", columnSettled),
			line("with Pods, settled", "pods", columnSettled),
			line("restart with all, peak", "restart-full", columnPeak),
		}},
		"requests": {Title: "Requests for each " + o.Kind, Unit: "requests", Lines: []result.Line{
			line("create to Ready", "create", columnRequests),
			line("replicas changed", "replicas", columnRequests),
			line("restart", "restart", columnRequests),
		}},
		"time": {Title: "Until all are ready", Unit: "seconds", Lines: []result.Line{
			line("create to Ready", "create", columnSeconds),
			line("restart until quiet", "restart", columnSeconds),
		}},
	}
}
