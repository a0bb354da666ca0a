// The keystone operator brings up and runs OpenStack Keystone.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/operators/keystone/program"
)

func main() {
	operator.Main(program.Options())
}
