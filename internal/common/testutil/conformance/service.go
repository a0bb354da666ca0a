// Package conformance proves of the operator of a service what holds for every service:
// that it converges and then rests, that it survives failures, repairs what drifts, leaves
// alone what is not its own, explains what is wrong, and takes everything along when a
// resource is deleted. The author of a service describes it and calls [Main] and [Run];
// tests of the author's own are about what only that service has.
package conformance

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	// Vocabulary is what the kind says about itself.
	Vocabulary vocabulary.Kind

	// New returns a valid resource with one replica, of a release that has one before and
	// one after it, whose database and cache belong to somebody else.
	New func(namespace, name string) T
	// Change applies a change to what the kind has in common with those of other services.
	Change func(resource T, change func(*commonv1.ServiceSpec))
	// Inputs are the Secrets that New refers to.
	Inputs func(namespace string) []client.Object
	// Endpoint is the endpoint in the status of a resource of the name of the service.
	Endpoint func(namespace string) string
	// Probe answers the health checks, and what else the operator asks the API of the
	// service; nil lets api do that.
	Probe func(api *running.API) probe.Doer

	// Children are what the operator makes for such a resource, by kind and name as in
	// "Job keystone-bootstrap", beside what it makes for every service.
	Children []string
	// Irreplaceable are the names of Secrets that the operator neither makes twice nor
	// deletes before the database.
	Irreplaceable []string
	// Drifts are changes to the children of the service's own, which the operator puts right.
	Drifts []Drift
	// Watches are the resources that the operator watches, as in "cronjobs.batch", beside
	// those that it watches for every service.
	Watches []string
	// Events are the reasons of the events on the way to Ready, beside DatabaseSynced.
	Events []string
	// StatusWrites is how often the status is written on the way to Ready, at most.
	StatusWrites int
	// DeletionWrites are the writes at the end of a resource, in the format of
	// [transport.Call], beside those that every service makes.
	DeletionWrites map[string]int
}

// World is what the tests of a package share: one API server with the kinds of every
// foreign project, and the stand-ins for the controllers of a cluster. Each test has a
// namespace of its own and an operator that sees nothing else.
type World struct {
	Env *envtest.Env
	// Admin has all rights.
	Admin client.Client
	// AsOperator has the rights that the chart gives the operator.
	AsOperator *rest.Config

	Deployments *standin.Deployments
	Jobs        *standin.Jobs
	MariaDB     *standin.MariaDB
	Secrets     *standin.ExternalSecrets
}

// The places of what the API server needs to know, seen from the package of the controller.
const (
	definitions = "../../config/crd/bases"
	chart       = "../../helm/"
	rules       = "/files/rbac-rules.yaml"
)

// Main runs the tests of the package of the service's controller, internal/controller, in
// a world, and fails when they have not shown every reason of the vocabulary. It is the
// whole body of TestMain.
func Main[T service.Resource](m *testing.M, s Service[T], w *World) {
	o := envtest.Options{
		CRDs: []string{definitions}, Foreign: foreign.All, GarbageCollector: true,
		Vocabularies: []expect.Vocabulary{{Kind: s.Vocabulary, Unreached: unreached}},
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

// unreached are the reasons that no run against an API server can show, and why.
var unreached = map[string]string{
	vocabulary.ReasonReconcileError: "it is the reason of the step that failed, while Ready says NotAllReady",
}

// user is a user of the API server with the rights that the chart gives the operator.
func (s Service[T]) user(ctx context.Context, e *envtest.Env) (*rest.Config, error) {
	name := s.Program.Options.Name
	return e.User(ctx, name, chart+name+rules)
}

// suite is a service in a world.
type suite[T service.Resource] struct {
	Service[T]
	*World
}

// Run proves of the service what holds for every service.
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
