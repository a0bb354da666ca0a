package conformance

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/standin"
)

// World is the environment that the tests of a package share: one API server with the
// kinds of every foreign project, and the stand-ins for a cluster's controllers. Each
// test has its own namespace and its own operator, which sees nothing else.
type World struct {
	Env *envtest.Env
	// Admin has all permissions.
	Admin client.Client
	// AsOperator has the permissions that the chart grants the operator.
	AsOperator *rest.Config

	Deployments *standin.Deployments
	Jobs        *standin.Jobs
	MariaDB     *standin.MariaDB
	Secrets     *standin.ExternalSecrets
}

// Paths of the API server's inputs, relative to the package of the controller.
const (
	definitions = "../../config/crd/bases"
	chart       = "../../helm/"
	rules       = "/files/rbac-rules.yaml"
)

// operatorUser creates a user of the API server with the permissions that the chart grants
// the operator.
func operatorUser(ctx context.Context, e *envtest.Env, operator string) (*rest.Config, error) {
	return e.User(ctx, operator, chart+operator+rules)
}
