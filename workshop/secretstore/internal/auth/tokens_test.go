package auth_test

import (
	"testing"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
)

func TestATokenEndsWithItsTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tokens := auth.NewTokens("root", func() time.Time { return now })
	text, issued := tokens.Issue(auth.Token{Policies: []string{"p"}}, time.Hour)
	now = now.Add(time.Hour - time.Second)
	if got, valid := tokens.Lookup(text); !valid || got.Accessor != issued.Accessor || got.TTL(now) != time.Second {
		t.Errorf("shortly before: %+v, %t", got, valid)
	}
	now = now.Add(time.Second)
	if _, valid := tokens.Lookup(text); valid {
		t.Error("it is valid after its time")
	}
}

func TestTheRootTokenStaysValid(t *testing.T) {
	tokens := auth.NewTokens("root", time.Now)
	tokens.Revoke("root")
	if got, valid := tokens.Lookup("root"); !valid || got.Policies[0] != "root" {
		t.Errorf("got %+v, %t", got, valid)
	}
}

func TestTwoTokensDiffer(t *testing.T) {
	tokens := auth.NewTokens("root", time.Now)
	first, _ := tokens.Issue(auth.Token{}, time.Hour)
	second, _ := tokens.Issue(auth.Token{}, time.Hour)
	tokens.Revoke(first)
	if _, valid := tokens.Lookup(first); valid {
		t.Error("the revoked token is valid")
	}
	if _, valid := tokens.Lookup(second); !valid {
		t.Error("the other token is not")
	}
}
