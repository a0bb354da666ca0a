package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// fixed is a step that always returns the outcome and records that it ran.
func fixed(name, condition string, outcome Outcome, ran *[]string, needs ...string) Step[*[]string] {
	return Step[*[]string]{
		Name: name, Condition: condition, Needs: needs,
		Run: func(context.Context, *[]string) Outcome {
			*ran = append(*ran, name)
			return outcome
		},
	}
}

func TestAWaitingStepBlocksOnlyItsDependents(t *testing.T) {
	var ran []string
	pipeline := Pipeline[*[]string]{
		fixed("A", "AReady", Waiting("NotYet", "later"), &ran),
		fixed("B", "BReady", Done("Fine", ""), &ran, "A"),
		fixed("C", "CReady", Done("Fine", ""), &ran),
		fixed("D", "DReady", Done("Fine", ""), &ran, "B", "C"),
	}
	results := pipeline.run(t.Context(), &ran, nil)
	if diff := cmp.Diff([]string{"A", "C"}, ran); diff != "" {
		t.Errorf("steps that ran (-want +got):\n%s", diff)
	}
	skipped := map[string]string{}
	for _, result := range results {
		skipped[result.name] = result.skipped
	}
	if diff := cmp.Diff(map[string]string{"A": "", "B": "A", "C": "", "D": "B"}, skipped); diff != "" {
		t.Errorf("what held steps back (-want +got):\n%s", diff)
	}
}

func TestAStepWithAFalseConditionCanLetDependentsProceed(t *testing.T) {
	var ran []string
	pipeline := Pipeline[*[]string]{
		fixed("Upgrade", "DatabaseReady", Waiting("Rolling", "pods are replaced").Proceed(), &ran),
		fixed("Deployment", "DeploymentReady", Done("Fine", ""), &ran, "Upgrade"),
	}
	results := pipeline.run(t.Context(), &ran, nil)
	var conditions []metav1.Condition
	record(&conditions, 1, results)
	if len(ran) != 2 ||
		!meta.IsStatusConditionFalse(conditions, "DatabaseReady") || !meta.IsStatusConditionTrue(conditions, "DeploymentReady") {
		t.Errorf("ran %v with conditions %v, want both steps and DatabaseReady False", ran, conditions)
	}
}

func TestAStepThatReturnsNoOutcomeFailsVisibly(t *testing.T) {
	var ran []string
	results := Pipeline[*[]string]{fixed("A", "AReady", Outcome{}, &ran)}.run(t.Context(), &ran, nil)
	if !errors.Is(results[0].outcome.Err(), errNoOutcome) {
		t.Errorf("error %v, want %v", results[0].outcome.Err(), errNoOutcome)
	}
}

func TestASharedConditionReportsTheFirstStepThatIsNotDone(t *testing.T) {
	done, bad := Done("Available", "all there"), Failed("ConfigError", errors.New("broken"))
	for name, test := range map[string]struct {
		results    []stepResult
		wantStatus metav1.ConditionStatus
		wantReason string
	}{
		"all done": {
			results:    []stepResult{{condition: "X", outcome: done}, {condition: "X", outcome: Done("Other", "")}},
			wantStatus: metav1.ConditionTrue, wantReason: "Available",
		},
		"all done, and the first one says nothing": {
			results:    []stepResult{{condition: "X", outcome: Done("Other", "")}, {condition: "X", outcome: done}},
			wantStatus: metav1.ConditionTrue, wantReason: "Available",
		},
		"a later step fails": {
			results:    []stepResult{{condition: "X", outcome: done}, {condition: "X", outcome: bad}},
			wantStatus: metav1.ConditionFalse, wantReason: "ConfigError",
		},
		"bad news wins over a step that was held back": {
			results:    []stepResult{{condition: "X", skipped: "Y"}, {condition: "X", outcome: bad}},
			wantStatus: metav1.ConditionFalse, wantReason: "ConfigError",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			record(&conditions, 7, test.results)
			got := meta.FindStatusCondition(conditions, "X")
			if got == nil || got.Status != test.wantStatus || got.Reason != test.wantReason || got.ObservedGeneration != 7 {
				t.Errorf("condition %+v, want %s/%s for generation 7", got, test.wantStatus, test.wantReason)
			}
		})
	}
}

func TestABlockedConditionKeepsItsObservedGeneration(t *testing.T) {
	conditions := []metav1.Condition{{Type: "X", Status: metav1.ConditionTrue, Reason: "Available", ObservedGeneration: 3}}
	record(&conditions, 4, []stepResult{{condition: "X", outcome: Done("Available", "")}, {condition: "X", skipped: "Y"}})
	if got := meta.FindStatusCondition(conditions, "X"); got.ObservedGeneration != 3 {
		t.Errorf("observed generation %d, want 3", got.ObservedGeneration)
	}
}

func TestReadyNamesEveryPartThatIsNotReady(t *testing.T) {
	conditions := []metav1.Condition{
		{Type: "A", Status: metav1.ConditionTrue, ObservedGeneration: 2},
		{Type: "B", Status: metav1.ConditionFalse, Reason: "Broken", Message: "mend it", ObservedGeneration: 2},
		{Type: "C", Status: metav1.ConditionTrue, ObservedGeneration: 1},
	}
	aggregate(&conditions, 2, []string{"A", "B", "C", "D"}, []stepResult{{condition: "D", skipped: "Database"}})
	ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
	want := "Not ready: B (Broken: mend it); C (not yet evaluated); D (waits for Database)"
	if ready.Status != metav1.ConditionFalse || ready.Reason != vocabulary.ReasonNotAllReady || ready.Message != want {
		t.Errorf("Ready is %s/%s %q, want False/%s %q", ready.Status, ready.Reason, ready.Message, vocabulary.ReasonNotAllReady, want)
	}
	if !meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReconciling) {
		t.Error("Reconciling is not True while work is left")
	}
}

func TestReadyAndKstatusFollowTheWorstOutcome(t *testing.T) {
	all := []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	aggregate(&all, 1, []string{"A"}, nil)
	if !meta.IsStatusConditionTrue(all, vocabulary.ConditionReady) || len(all) != 2 {
		t.Errorf("conditions %v, want Ready and neither Reconciling nor Stalled", all)
	}
	stuck := []metav1.Condition{{Type: "A", Status: metav1.ConditionFalse, ObservedGeneration: 1}}
	results := []stepResult{{name: "A", condition: "A", outcome: Terminal("Wrong", errors.New("change the spec"))}}
	aggregate(&stuck, 1, []string{"A"}, results)
	if !meta.IsStatusConditionTrue(stuck, vocabulary.ConditionStalled) ||
		meta.FindStatusCondition(stuck, vocabulary.ConditionReconciling) != nil {
		t.Errorf("conditions %v, want Stalled and not Reconciling", stuck)
	}
}

func TestAStepOfAKindWithoutOtherConditionsMayOwnReady(t *testing.T) {
	var ran []string
	for _, test := range []struct {
		outcome Outcome
		kstatus string
	}{
		{Done("Collected", "all of it"), ""},
		{Waiting("NotYet", "the other one is missing"), vocabulary.ConditionReconciling},
		{Terminal("Wrong", errors.New("change the spec")), vocabulary.ConditionStalled},
	} {
		pipeline := Pipeline[*[]string]{fixed("A", vocabulary.ConditionReady, test.outcome, &ran)}
		if err := pipeline.Validate(); err != nil {
			t.Fatal(err)
		}
		results := pipeline.run(t.Context(), &ran, nil)
		conditions := []metav1.Condition{{Type: vocabulary.ConditionReconciling, Status: metav1.ConditionTrue}}
		record(&conditions, 1, results)
		aggregate(&conditions, 1, pipeline.Conditions(), results)
		ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
		if ready.Reason != test.outcome.Reason() || ready.Message != test.outcome.Message() {
			t.Errorf("Ready is %+v, want what the step said", ready)
		}
		for _, kstatus := range []string{vocabulary.ConditionReconciling, vocabulary.ConditionStalled} {
			if got := meta.IsStatusConditionTrue(conditions, kstatus); got != (kstatus == test.kstatus) {
				t.Errorf("after %s, %s is %t", test.outcome.Reason(), kstatus, got)
			}
		}
	}
}

func TestAPipelineRefusesDeclarationMistakes(t *testing.T) {
	var ran []string
	ok := Done("Fine", "")
	for name, test := range map[string]struct {
		pipeline Pipeline[*[]string]
		want     string
	}{
		"a step twice":           {Pipeline[*[]string]{fixed("A", "X", ok, &ran), fixed("A", "Y", ok, &ran)}, "declared twice"},
		"a need declared later":  {Pipeline[*[]string]{fixed("A", "X", ok, &ran, "B"), fixed("B", "Y", ok, &ran)}, "not declared before"},
		"a step without a name":  {Pipeline[*[]string]{fixed("", "X", ok, &ran)}, "must have"},
		"a step with no purpose": {Pipeline[*[]string]{fixed("A", "", ok, &ran)}, "must have"},
		"a Ready of its own":     {Pipeline[*[]string]{fixed("A", "X", ok, &ran), fixed("B", "Ready", ok, &ran)}, "sums up"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.pipeline.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestInformationalConditionsDoNotCountForReady(t *testing.T) {
	var ran []string
	informational := fixed("Logging", "LoggingHealthy", Degraded("Off", ""), &ran)
	informational.Informational = true
	pipeline := Pipeline[*[]string]{fixed("A", "AReady", Done("Fine", ""), &ran), informational, fixed("B", "AReady", Done("Fine", ""), &ran)}
	if diff := cmp.Diff([]string{"AReady"}, pipeline.Conditions()); diff != "" {
		t.Errorf("conditions that count (-want +got):\n%s", diff)
	}
	informational.Run = func(context.Context, *[]string) Outcome { return Terminal("Wrong", errors.New("change the spec")) }
	results := Pipeline[*[]string]{informational}.run(t.Context(), &ran, nil)
	progressing := []metav1.Condition{{Type: "AReady", Status: metav1.ConditionFalse, ObservedGeneration: 1}}
	aggregate(&progressing, 1, []string{"AReady"}, results)
	if meta.FindStatusCondition(progressing, vocabulary.ConditionStalled) != nil {
		t.Errorf("conditions %v, want no Stalled", progressing)
	}
}
