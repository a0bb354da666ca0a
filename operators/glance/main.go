// The glance operator brings up and runs OpenStack Glance with its backends.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/glance/program"
)

func main() {
	operator.Main(program.Options())
}
