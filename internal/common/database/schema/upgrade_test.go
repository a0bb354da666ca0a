package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// full declares the schema of a service whose upgrades have every phase.
var full = Schema{
	Sync: []string{"sync"}, Check: []string{"check"}, Login: []string{"login"},
	Expand: []string{"expand"}, Migrate: []string{"migrate"}, Contract: []string{"contract"}, Reach: []string{"reach"},
}

// upgraded follows an upgrade to its end. It returns the reasons of the outcomes without
// repetitions, their messages, and the commands in the order of their Jobs.
func upgraded(t *testing.T, s Schema, phase commonv1.UpgradePhase) (w *work, reasons, messages, commands []string) {
	t.Helper()
	h := instance.Brownfield()
	h.Status.InstalledRelease = "2025.1"
	if phase != "" {
		h.Status.TargetRelease, h.Status.UpgradePhase = "2025.2", phase
	}
	w = s.work(instance.Pass(t, h, interceptor.Funcs{}))
	database.Connection.Put(w.Slots, database.Proven(w.Pass, "url", "hash"))
	w.Jobs.Events = w.Client
	for range 30 {
		before := w.Status.UpgradePhase
		w = s.work(w.Pass)
		outcome := w.report(w.followRelease(t.Context()))
		reasons = append(reasons, outcome.Reason())
		messages = append(messages, outcome.Message())
		if before == commonv1.UpgradePhaseRollingUpdate && outcome.Reason() == vocabulary.ReasonUpgradeRollingUpdate {
			if news, err := w.completeRollout(t.Context()); news != "All API pods run release 2025.2" || err != nil {
				t.Fatalf("the end of the rollout: %q, %v", news, err)
			}
		}
		if outcome.IsDone() && w.Status.UpgradePhase == "" {
			return w, slices.Compact(reasons), messages, commands
		}
		commands = append(commands, completeJobs(t, w)...)
	}
	t.Fatalf("the upgrade is stuck in phase %q; reasons %v", w.Status.UpgradePhase, slices.Compact(reasons))
	return nil, nil, nil, nil
}

// completeJobs lets the Jobs that are running succeed, and returns their commands.
func completeJobs(t *testing.T, w *work) (commands []string) {
	t.Helper()
	var list batchv1.JobList
	if err := w.Client.List(t.Context(), &list, client.InNamespace(w.Resource.GetNamespace())); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		live := &list.Items[i]
		if len(live.Status.Conditions) > 0 {
			continue
		}
		commands = append(commands, live.Spec.Template.Spec.Containers[0].Command...)
		live.Status.Conditions = []batchv1.JobCondition{{
			Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		}}
		if err := w.Client.Status().Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
	}
	return commands
}

func TestAnUpgradeRunsOnlyThePhasesOfItsSchema(t *testing.T) {
	noMigration, noContraction := full, full
	noMigration.Migrate, noContraction.Contract = nil, nil
	for name, c := range map[string]struct {
		schema            Schema
		phase             commonv1.UpgradePhase
		reasons, commands []string
	}{
		"all of them": {
			schema: full, commands: []string{"expand", "migrate", "contract", "check"},
			reasons: []string{
				vocabulary.ReasonExpandInProgress, vocabulary.ReasonMigrateInProgress, vocabulary.ReasonUpgradeRollingUpdate,
				vocabulary.ReasonContractInProgress, vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
			},
		},
		"no migration": {
			schema: noMigration, commands: []string{"expand", "contract", "check"},
			reasons: []string{
				vocabulary.ReasonExpandInProgress, vocabulary.ReasonUpgradeRollingUpdate,
				vocabulary.ReasonContractInProgress, vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
			},
		},
		"no migration, which an operator that had one has begun": {
			schema: noMigration, phase: commonv1.UpgradePhaseMigrating, commands: []string{"expand", "contract", "check"},
			reasons: []string{
				vocabulary.ReasonExpandInProgress, vocabulary.ReasonUpgradeRollingUpdate,
				vocabulary.ReasonContractInProgress, vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
			},
		},
		"no contraction": {
			schema: noContraction, commands: []string{"expand", "migrate", "check"},
			reasons: []string{
				vocabulary.ReasonExpandInProgress, vocabulary.ReasonMigrateInProgress, vocabulary.ReasonUpgradeRollingUpdate,
				vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, reasons, messages, commands := upgraded(t, c.schema, c.phase)
			if diff := cmp.Diff([][]string{c.reasons, c.commands}, [][]string{reasons, commands}); diff != "" {
				t.Errorf("reasons and commands (-want +got):\n%s", diff)
			}
			said := strings.Contains(strings.Join(messages, "\n"), "The data is migrated")
			if migrates := c.schema.Migrate != nil; said != migrates {
				t.Errorf("a migration was announced: %t, want %t", said, migrates)
			}
			after := w.report(w.followRelease(t.Context()))
			if want := upgradedMessage("2025.1", "2025.2"); !after.IsDone() || after.Message() != want {
				t.Errorf("after the upgrade: got %s: %s, want %q without another installation", after.Reason(), after.Message(), want)
			}
		})
	}
}

func TestAPhaseWithoutACommandHasNoTask(t *testing.T) {
	w, _, _, _ := upgraded(t, full, "")
	partial := full
	partial.Migrate, partial.Contract = nil, nil
	for name, task := range partial.Tasks(w.Pass) {
		if len(task.Command) == 0 {
			t.Errorf("task %s has no command", name)
		}
	}
	if all, some := len(full.Tasks(w.Pass)), len(partial.Tasks(w.Pass)); all-some != 2 {
		t.Errorf("%d of %d tasks are left without two phases", some, all)
	}
}
