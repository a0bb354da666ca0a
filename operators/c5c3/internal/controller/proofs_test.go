package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestAnAcceptedCredentialIsNotProvenAgainForAWhile(t *testing.T) {
	logins, verdict, now := 0, Unproven, time.Now()
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) {
		logins++
		if verdict == Unproven {
			return verdict, errors.New("away")
		}
		return verdict, nil
	}, func(string) time.Time { return now }, time.Minute)
	name := types.NamespacedName{Name: "a"}
	for i, step := range []struct {
		answer, want Verdict
		secret       string
		after        time.Duration
		logins       int
	}{
		{Unproven, Unproven, "one", 0, 1},
		{Rejected, Rejected, "one", 0, 2},
		{Accepted, Accepted, "one", 0, 3},
		{Rejected, Accepted, "one", 59 * time.Second, 3},
		{Unproven, Accepted, "one", time.Second, 4},
		{Rejected, Accepted, "one", 59 * time.Second, 4},
		{Accepted, Accepted, "one", time.Second, 5},
		{Rejected, Rejected, "one", time.Minute, 6},
		{Accepted, Accepted, "one", 0, 7},
		{Rejected, Rejected, "two", 0, 8},
	} {
		verdict, now = step.answer, now.Add(step.after)
		got, _ := p.verdict(t.Context(), name, "url", "id", step.secret)
		if got != step.want || logins != step.logins {
			t.Errorf("step %d: %v after %d logins", i, got, logins)
		}
	}
	if !p.rejected(name, "id", "two") || p.rejected(name, "id", "one") {
		t.Error("another credential is known as rejected")
	}
	p.forget(name)
	if p.rejected(name, "id", "two") {
		t.Error("it is remembered though the control plane is gone")
	}
}
