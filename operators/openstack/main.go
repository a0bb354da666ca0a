// The openstack operator runs the operators of all services as one program.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	barbican "github.com/c5c3/forge/operators/barbican/program"
	glance "github.com/c5c3/forge/operators/glance/program"
	horizon "github.com/c5c3/forge/operators/horizon/program"
	keystone "github.com/c5c3/forge/operators/keystone/program"
	placement "github.com/c5c3/forge/operators/placement/program"
)

func main() {
	group().Main()
}

func group() operator.Group {
	return operator.Group{
		Name: "openstack-operator",
		Operators: []operator.Options{
			barbican.Options(), glance.Options(), horizon.Options(), keystone.Options(), placement.Options(),
		},
	}
}
