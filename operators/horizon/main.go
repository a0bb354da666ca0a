// The horizon operator brings up and runs OpenStack Horizon.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/horizon/program"
)

func main() {
	operator.Main(program.Options())
}
