// Package conformance verifies what every service's operator has to do: it converges and
// then rests, survives failures, repairs drift, leaves foreign objects alone, explains
// what is wrong, and cleans up when a resource is deleted. The author of a service
// describes it and calls [Main] and [Run]; the author's own tests cover what only that
// service has.
package conformance

import (
	"context"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Service describes the operator of a service. T is a pointer to the Go type of its kind.
type Service[T service.Resource] struct {
	// Program is the operator.
	Program running.Program
	// Definition describes the service.
	Definition *service.Definition
	// Vocabulary lists the conditions, reasons and events of the kind.
	Vocabulary vocabulary.Kind

	// New returns a valid resource with one replica and an external database and cache.
	// There must be a release before and after that of the resource.
	New func(namespace, name string) T
	// Change changes the part of the spec that all services have in common.
	Change func(resource T, change func(*commonv1.ServiceSpec))
	// Inputs returns the Secrets that New refers to.
	Inputs func(namespace string) []client.Object
	// Endpoint returns the endpoint in the status of a resource named after the service.
	Endpoint func(namespace string) string
	// Probe answers the health checks and other requests of the operator to the service's
	// API; if it is nil, api does.
	Probe func(api *running.API) probe.Doer

	// Children are what the operator creates for such a resource in addition to what
	// every service has, by kind and name as in "Job keystone-bootstrap".
	Children []string
	// Irreplaceable are the names of Secrets that the operator never creates twice, nor
	// deletes before the database.
	Irreplaceable []string
	// Skips are the tasks of an upgrade, [schema.TaskMigrate] and [schema.TaskContract], that
	// the declaration of the schema leaves out.
	Skips []string
	// Drifts are changes to the children of the service's own, which the operator puts right.
	Drifts []Drift
	// Watches are the resources that the operator watches, as in "cronjobs.batch", beside
	// those that it watches for every service.
	Watches []string
	// Events are the reasons of the events on the way to Ready, apart from
	// DatabaseSynced.
	Events []string
	// StatusWrites is the maximum number of status writes until Ready.
	StatusWrites int
	// DeletionWrites are the writes at the end of a resource in addition to those of
	// every service, in the format of [transport.Call].
	DeletionWrites map[string]int
}

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

// Main runs the tests of the package of the service's controller, internal/controller, in
// a world. It fails if they have not produced every reason of the vocabulary. It is the
// whole body of TestMain.
func Main[T service.Resource](m *testing.M, s Service[T], w *World) {
	o := envtest.Options{
		CRDs: []string{definitions}, Foreign: foreign.All, GarbageCollector: true,
		Vocabularies: []expect.Vocabulary{{Kind: s.Vocabulary, Unreached: s.unreached()}},
	}
	*w = World{
		Deployments: standin.NewDeployments(), Jobs: standin.NewJobs(),
		MariaDB: standin.NewMariaDB(), Secrets: standin.NewExternalSecrets(),
	}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		w.Env = e
		if w.Admin, err = client.New(e.Config, client.Options{Scheme: s.Program.Options.Scheme}); err != nil {
			return err
		}
		if w.AsOperator, err = s.user(ctx, e); err != nil {
			return err
		}
		return standin.Run(ctx, e.Config, w.Deployments, w.Jobs, w.MariaDB, w.Secrets)
	})
}

// unreached returns the reasons that no test against an API server can produce, with the
// explanation.
func (s Service[T]) unreached() map[string]string {
	all := map[string]string{
		vocabulary.ReasonReconcileError: "it is the reason of the step that failed, while Ready says NotAllReady",
	}
	for task, reasons := range map[string][]string{
		schema.TaskMigrate:  {vocabulary.ReasonMigrateInProgress, vocabulary.ReasonMigrateFailed},
		schema.TaskContract: {vocabulary.ReasonContractInProgress, vocabulary.ReasonContractFailed},
	} {
		if slices.Contains(s.Skips, task) {
			for _, reason := range reasons {
				all[reason] = "an upgrade of the service skips " + task
			}
		}
	}
	return all
}

// user creates a user of the API server with the permissions that the chart grants the
// operator.
func (s Service[T]) user(ctx context.Context, e *envtest.Env) (*rest.Config, error) {
	name := s.Program.Options.Name
	return e.User(ctx, name, chart+name+rules)
}

// suite is a service in a world.
type suite[T service.Resource] struct {
	Service[T]
	*World
}

// Run verifies that the service conforms to what every service has to do.
func Run[T service.Resource](t *testing.T, s Service[T], w *World) {
	suite := suite[T]{s, w}
	for _, proof := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"converges and then rests", suite.rests},
		{"repairs what drifts", suite.drift},
		{"takes over no object of somebody else", suite.foreign},
		{"is alone with each resource", suite.isolation},
		{"explains what is wrong", suite.reasons},
		{"has what the spec asks for", suite.optional},
		{"gets to the next release", suite.upgrades},
		{"lives with the absence of other projects", suite.absent},
		{"survives failures on the way to Ready", suite.failures},
		{"takes everything along when it is deleted", suite.deletion},
	} {
		t.Run(proof.name, proof.run)
	}
}
