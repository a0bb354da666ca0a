// Package metrics defines the metrics of the Placement operator. The metrics reference in
// the documentation is generated from it.
package metrics

import (
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/metric"
)

// Operator are the metrics of the operator.
var Operator = controller.Metrics{Prefix: "placement_operator", Kind: "Placement"}

// Definitions returns all metrics of the operator.
func Definitions() []metric.Definition { return Operator.Definitions() }
