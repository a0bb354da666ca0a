package vocabulary

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadyAggregatesOnlyTheDeclaredConditions(t *testing.T) {
	boat := Kind{Kind: "Boat", Conditions: append([]Condition{
		{Type: "Afloat", Aggregated: true}, {Type: "Painted"}, {Type: "Manned", Aggregated: true}, {Type: ConditionReady},
	}, Abnormal()...)}
	if diff := cmp.Diff([]string{"Afloat", "Manned"}, boat.Aggregated()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStalledReasonsAreInvalidSpecAndThoseOfTheKind(t *testing.T) {
	want := []Condition{
		{Type: "Reconciling", True: []string{"Progressing"}},
		{Type: "Stalled", True: []string{"InvalidSpec", "Aground"}},
		{Type: "Paused", True: []string{"Paused"}},
	}
	if diff := cmp.Diff(want, Abnormal("Aground")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnEventReportsProgressOrAProblem(t *testing.T) {
	want := []Event{{"Launched", "Normal"}, {"Moored", "Normal"}, {"Leaking", "Warning"}}
	if diff := cmp.Diff(want, append(Normal("Launched", "Moored"), Warnings("Leaking")...)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAServiceUserAddsAConditionAndAReasonOfItsSecret(t *testing.T) {
	without, _ := ServiceConditions("BoatAPIReady")
	with, _ := ServiceConditions("BoatAPIReady")
	want := append(without, Condition{
		Type: "ServiceUserReady", Aggregated: true,
		True: []string{"ServiceUserAccepted"}, False: []string{"ServiceUserCheckInProgress", "ServiceUserRefused"},
	})
	want[0].False = append(want[0].False, "WaitingForServiceUser")
	if diff := cmp.Diff(want, WithServiceUser(with)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAServiceWithoutADatabaseHasNoConditionAboutOne(t *testing.T) {
	prerequisites, serving := StatelessConditions("BuoyReady")
	all := slices.Concat(prerequisites, serving)
	want := []string{
		ConditionSecretsReady, ConditionNetworkPolicyReady, ConditionDeploymentReady, ConditionHTTPRouteReady, "BuoyReady", ConditionHPAReady,
	}
	if got := Types(all); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, condition := range all {
		for _, reason := range slices.Concat(condition.True, condition.False) {
			if reason == ReasonWaitingForDBCredentials || reason == ReasonDeploymentStopped {
				t.Errorf("%s has the reason %s", condition.Type, reason)
			}
		}
	}
}
