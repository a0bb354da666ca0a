package conformance

import (
	"context"
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Main runs the tests of the package of the service's controller, internal/controller, in
// a world. It fails if they have not produced every reason of the vocabulary. It is the
// whole body of TestMain. attached are the vocabularies of resources that belong to the service.
func Main[T service.Resource](m *testing.M, s Service[T], w *World, attached ...vocabulary.Kind) {
	o := envtest.Options{
		CRDs: Definitions(s.Definition.Kind), ThirdParty: thirdparty.All, GarbageCollector: true,
		Vocabularies: []expect.Vocabulary{{Kind: s.Vocabulary, Unreached: s.unreached()}}, Sampled: !s.Exemplary,
	}
	for _, kind := range attached {
		o.Vocabularies = append(o.Vocabularies, expect.Vocabulary{Kind: kind, Unreached: map[string]string{
			vocabulary.ReasonReconcileError: "it is the reason of the step that failed, while Ready says NotAllReady",
			vocabulary.ReasonInvalidSpec:    "the schema states the rules of the kind",
		}})
	}
	*w = World{
		Deployments: standin.NewDeployments(), Jobs: standin.NewJobs(),
		MariaDB: standin.NewMariaDB(), Secrets: standin.NewExternalSecrets(),
	}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		w.Env = e
		if w.Admin, err = e.NewClient(s.Program.Options.Scheme); err != nil {
			return err
		}
		if w.AsOperator, err = operatorUser(ctx, e, s.Program.Options.Name); err != nil {
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

// Run verifies that the service conforms to what every service has to do. A short test
// verifies what only depends on the shared library with the exemplary service.
func Run[T service.Resource](t *testing.T, s Service[T], w *World) {
	suite := suite[T]{s, w}
	for _, proof := range []struct {
		name   string
		shared bool
		run    func(*testing.T)
	}{
		{"converges and then rests", false, suite.rests},
		{"repairs drift of its children", false, suite.drift},
		{"leaves a paused resource alone", true, suite.paused},
		{"hibernates and wakes", true, suite.hibernation},
		{"adopts no foreign object", true, suite.foreign},
		{"isolates resources from each other", true, suite.isolation},
		{"reports failures in its conditions", true, suite.reasons},
		{"uses a service user at the Identity service", false, suite.serviceUser},
		{"implements the optional parts of the spec", true, suite.optional},
		{"gives all pods the settings of the spec", false, suite.podSettings},
		{"upgrades to the next release", true, suite.upgrades},
		{"starts the API as its image requires", false, suite.images},
		{"works with image references that a policy rewrites", true, suite.rewritten},
		{"does not wait for injected sidecars of its Jobs", true, suite.sidecars},
		{"upgrades across releases offline", true, suite.withData(suite.offline)},
		{"works without the CRDs of other projects", true, suite.absent},
		{"recovers from crashes and failed calls", false, suite.failures},
		{"removes all its children on deletion", true, suite.deletion},
	} {
		if proof.run != nil && s.verifies(proof.shared) {
			t.Run(proof.name, proof.run)
		}
	}
}
