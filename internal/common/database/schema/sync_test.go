package schema

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestASyncWaitsForAContractJobMissingFromTheStatus(t *testing.T) {
	w, _ := counting(t, interceptor.Funcs{})
	contraction, err := deployment.TaskJob(w.Pass, w.contractTask())
	if err != nil {
		t.Fatal(err)
	}
	// Like the status, its owner reference is lost.
	if err := w.Client.Create(t.Context(), contraction); err != nil {
		t.Fatal(err)
	}
	got := w.report(w.syncSchema(t.Context()))
	if got.IsDone() || got.Reason() != vocabulary.ReasonDBSyncInProgress || !strings.Contains(got.Message(), contraction.Name) {
		t.Errorf("got %s: %s, want it to wait for Job %s", got.Reason(), got.Message(), contraction.Name)
	}
}
