// The placement operator brings up and runs OpenStack Placement.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/placement/program"
)

func main() {
	operator.Main(program.Options())
}
