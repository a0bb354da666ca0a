package scheduled

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

var dredging = Task{
	Name: "dredge", Does: "dredging the harbour", Ready: "Dredged", Failed: "Silted", Database: database.Database{Section: "DATABASE"},
}

func pass(t *testing.T) *service.Pass {
	t.Helper()
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	database.Connection.Put(p.Slots, database.Proven(p, "url", "connection-hash"))
	p.Jobs.Events = p.Client
	return p
}

func TestATaskIsInPlaceOnceItsCronJobExists(t *testing.T) {
	p := pass(t)
	outcome := dredging.Reconcile(t.Context(), p, Run{Command: []string{"dredge"}, Schedule: "@daily"})
	if !outcome.IsDone() || outcome.Reason() != "Dredged" || !strings.Contains(outcome.Message(), "harbour-dredge is in place: dredging") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	live := &batchv1.CronJob{}
	if err := p.Client.Get(t.Context(), p.Key("harbour-dredge"), live); err != nil {
		t.Fatal(err)
	}
	if *live.Spec.Suspend || live.Spec.Schedule != "@daily" {
		t.Errorf("got %+v", live.Spec)
	}
}

func TestATaskPausesOnRequestAndDuringAnOfflineUpgrade(t *testing.T) {
	for phase, want := range map[commonv1.UpgradePhase]bool{"": false, commonv1.UpgradePhaseStopping: true} {
		p := pass(t)
		p.Status.UpgradePhase = phase
		if got := *dredging.CronJob(p, Run{}).Spec.Suspend; got != want {
			t.Errorf("in phase %q it pauses: %t", phase, got)
		}
		if !*dredging.CronJob(p, Run{Suspend: true}).Spec.Suspend {
			t.Errorf("in phase %q it does not pause on request", phase)
		}
	}
}
