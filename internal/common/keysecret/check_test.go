package keysecret

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// claimedLocks is the Secret as a Harbour keeps it.
func claimedLocks(p *service.Pass) *corev1.Secret {
	return lockSecret(p, service.Irreplaceable(p, "").Annotations)
}

func TestKeysAreTestedUnlessTheResourceAlreadyHasThem(t *testing.T) {
	foreign := func(p *service.Pass) *corev1.Secret { return lockSecret(p, nil) }
	for name, c := range map[string]struct {
		secret   func(*service.Pass) *corev1.Secret
		recorded string
		want     bool
	}{
		"its own, nothing is recorded":            {secret: claimedLocks},
		"its own, recorded":                       {secret: claimedLocks, recorded: hashOf(lockSecret(pass(t), nil))},
		"changed":                                 {secret: claimedLocks, recorded: "another", want: true},
		"in a Secret that somebody made":          {secret: foreign, want: true},
		"restored into a Secret without metadata": {secret: foreign, recorded: hashOf(lockSecret(pass(t), nil))},
	} {
		p := installed(t, c.secret)
		p.Status.KeysHash = c.recorded
		if got := locks.untested(p, c.secret(p)); got != c.want {
			t.Errorf("%s: they have to be tested: %t, want %t", name, got, c.want)
		}
	}
}

func TestChangedKeysAreUsedOnceTheyAreKnownToReadTheDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		content Content
		reason  string
	}{
		"while the Job runs":    {Content{Pending: "Job harbour-key-check is testing them"}, vocabulary.ReasonCheckingKeys},
		"they cannot read it":   {Content{Known: true, Unreadable: errors.New("other locks")}, vocabulary.ReasonKeysMissing},
		"they read the content": {Content{Known: true}, ""},
	} {
		p := installed(t, claimedLocks)
		p.Status.KeysHash = "another"
		DatabaseContent.Put(p.Slots, c.content)
		_, _, err := locks.Ensure(t.Context(), p, none)
		switch {
		case c.reason == "":
			if err != nil || p.Status.KeysHash != hashOf(live(t, p)) {
				t.Errorf("%s: they are not recorded, error %v", name, err)
			}
		case err == nil || reconcile.Failed("", err).Reason() != c.reason || !strings.Contains(err.Error(), "harbour-locks"):
			t.Errorf("%s: got %v", name, err)
		case p.Status.KeysHash != "another":
			t.Errorf("%s: they are recorded as tested", name)
		}
		_, _, err = locks.ensureCopy(t.Context(), p)
		if copied := err == nil; copied != (c.reason == "") {
			t.Errorf("%s: they are copied to the store: %t", name, copied)
		}
	}
}
