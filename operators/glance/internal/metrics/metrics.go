// Package metrics defines the metrics of the Glance operator. The metrics reference in
// the documentation is generated from it.
package metrics

import (
	"github.com/c5c3/forge/internal/common/metric"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// Operator are the metrics of the operator.
var Operator = metric.Names{Prefix: "glance_operator", Kind: glancev1alpha1.Kind}

// Definitions returns all metrics of the operator.
func Definitions() []metric.Definition { return Operator.Definitions() }
