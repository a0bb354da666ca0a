package conformance

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// heldDeletion rejects the operator's requests at the end of a resource.
func (s suite[T]) heldDeletion(t *testing.T) {
	refusals := &transport.Refusals{}
	world := *s.World
	world.AsOperator = refusals.Config(s.AsOperator)
	i := suite[T]{s.Service, &world}.converged(t, s.fullest())
	deletes := s.trial(t, s.fullest()).DeletionWrites
	allow := refusals.Refuse(func(r transport.Request) bool { return r.Verb == "delete" && deletes[r.Kind().String()] > 0 })
	objects.Delete(t, s.Admin, client.Object(i.copied()))
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonDeleting, "Deletion waits", s.Definition.CodeName)
	allow()
	i.gone()
}

// refusedReason is the reason of SecretsReady while no child can be written: the first one is
// the Secret with the connection, or the ConfigMap.
func (s suite[T]) refusedReason() string {
	if s.hasData() {
		return vocabulary.ReasonSecretInvalid
	}
	return vocabulary.ReasonConfigError
}

// refusedWrites rejects every write of a child, as a policy of the cluster may.
func (s suite[T]) refusedWrites(t *testing.T) {
	kinds := s.childWrites(t, brownfield)
	refusal := Refusal{
		Condition: vocabulary.ConditionSecretsReady, Reason: s.refusedReason(),
		matches: func(r transport.Request) bool { return kinds[r.Kind().String()] > 0 },
	}
	s.trial(t, brownfield).refused(t, refusal, func(o *object[T]) {
		if found := (&Instance[T]{*o, s}).children(); len(found) > 0 {
			t.Errorf("in spite of refusals there are %v", found)
		}
	})
}
