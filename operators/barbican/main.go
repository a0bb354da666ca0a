// The barbican operator brings up and runs OpenStack Barbican.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/barbican/program"
)

func main() {
	operator.Main(program.Options())
}
