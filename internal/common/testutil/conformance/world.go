package conformance

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/standin"
)

// World is the environment that the tests of a package share: one API server with the
// kinds of every third-party project. Each test has its own namespace and its own operator,
// which sees nothing else.
type World struct {
	Env *envtest.Env
	// Admin has all permissions.
	Admin client.Client
	// AsOperator has the permissions that the chart grants the operator.
	AsOperator *rest.Config

	// The stand-ins for a cluster's controllers are those of services.
	Deployments *standin.Deployments
	Jobs        *standin.Jobs
	MariaDB     *standin.MariaDB
	Secrets     *standin.ExternalSecrets
}

// resource returns the resource of the kind, as in "jobs.batch".
func (w *World) resource(t testing.TB, kind schema.GroupVersionKind) string {
	t.Helper()
	mapping, err := w.Admin.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(mapping.Resource.Resource+"."+kind.Group, ".")
}

// Paths of the API server's inputs, relative to the package of the controller.
const (
	definitions = "../../config/crd/bases"
	chart       = "../../helm/"
	rules       = "/files/rbac-rules.yaml"
)

// Definitions returns the files and folders with the definition of the kind, and with those
// of the other services, whose resources may name the same database.
func Definitions(kind string) []string {
	paths := []string{definitions}
	for _, other := range sharing.Others(kind) {
		paths = append(paths, folderOf(other)+"/crd/bases")
	}
	return paths
}

// folderOf returns the folder with the configuration of the operator of another kind.
func folderOf(kind schema.GroupVersionKind) string {
	return "../../../" + strings.ToLower(kind.Kind) + "/config"
}

// operatorUser creates a user of the API server with the permissions that the chart grants
// the operator.
func operatorUser(ctx context.Context, e *envtest.Env, operator string) (*rest.Config, error) {
	return e.User(ctx, operator, chart+operator+rules)
}
