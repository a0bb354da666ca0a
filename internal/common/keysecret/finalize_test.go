package keysecret

import (
	"strings"
	"testing"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/secrets"
)

// pushOption changes a PushSecret of a Keystone that is being deleted.
type pushOption func(*esov1alpha1.PushSecret)

func adopted(push *esov1alpha1.PushSecret) { push.Finalizers = []string{secrets.PushSecretFinalizer} }

func terminatingSince(at time.Time) pushOption {
	return func(push *esov1alpha1.PushSecret) { push.DeletionTimestamp = &metav1.Time{Time: at} }
}

func sealed(push *esov1alpha1.PushSecret) {
	push.Status.Conditions = []esov1alpha1.PushSecretStatusCondition{{
		Type: esov1alpha1.PushSecretReady, Status: corev1.ConditionFalse, Message: "Vault is sealed",
	}}
}

func push(name string, options ...pushOption) *esov1alpha1.PushSecret {
	push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, option := range options {
		option(push)
	}
	return push
}

func TestKeyBackupsAreFinalizedInOrderOrTimeOut(t *testing.T) {
	deleted := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	soon, late := deleted.Add(time.Minute), deleted.Add(11*time.Minute)
	for name, tc := range map[string]struct {
		now     time.Time
		backups []*esov1alpha1.PushSecret
		remove  []string
		reason  string
		done    bool
		says    []string
		events  []string
	}{
		"there is none": {now: soon, done: true, reason: "Deleting", events: []string{"Normal OpenBaoSecretsFinalized"}},
		"one is not promoted yet": {
			now: soon, backups: []*esov1alpha1.PushSecret{push("a", adopted), push("b")},
			reason: "WaitingForESOAdoption", says: []string{"PushSecret b", "start the controller", "10m0s"},
		},
		"both are promoted": {
			now: soon, backups: []*esov1alpha1.PushSecret{push("a", adopted), push("b", adopted)},
			remove: []string{"a", "b"}, reason: "OpenBaoFinalizerBlocked",
		},
		"both are being removed and the store is sealed": {
			now: soon, backups: []*esov1alpha1.PushSecret{
				push("a", adopted, terminatingSince(deleted), sealed), push("b", adopted, terminatingSince(deleted), sealed),
			},
			reason: "OpenBaoFinalizerBlocked", says: []string{"PushSecret a (Vault is sealed)", "PushSecret b", "openbao-cluster-store"},
		},
		"one is never adopted": {
			now: late, backups: []*esov1alpha1.PushSecret{push("a")},
			remove: []string{"a"}, done: true, reason: "Deleting",
			events: []string{"Warning ESOAdoptionTimedOut", "Normal OpenBaoSecretsFinalized"},
		},
		"one is not adopted and the other is stuck for a short time": {
			now: late, backups: []*esov1alpha1.PushSecret{push("a"), push("b", adopted, terminatingSince(late.Add(-time.Minute)))},
			remove: []string{"a"}, reason: "OpenBaoFinalizerBlocked", says: []string{"PushSecret b"},
		},
		"the store stays sealed": {
			now: late, backups: []*esov1alpha1.PushSecret{push("a", adopted, terminatingSince(deleted), sealed)},
			done: true, reason: "Deleting", events: []string{"Warning OpenBaoFinalizerTimedOut"},
		},
		"one was deleted by hand before it was promoted": {
			now: soon, backups: []*esov1alpha1.PushSecret{push("a", terminatingSince(deleted))},
			reason: "OpenBaoFinalizerBlocked",
		},
		"the clock went back": {
			now: deleted.Add(-time.Hour), backups: []*esov1alpha1.PushSecret{push("a")}, reason: "WaitingForESOAdoption",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planRelease(tc.backups, deleted, tc.now, StoreTimeout)
			outcome := plan.outcome()
			var removed, events []string
			for _, push := range plan.remove {
				removed = append(removed, push.Name)
			}
			for _, event := range outcome.Events() {
				events = append(events, event.Type+" "+event.Reason)
			}
			if diff := cmp.Diff(tc.remove, removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if outcome.Reason() != tc.reason || outcome.IsDone() != tc.done {
				t.Errorf("the outcome is %s, done %t", outcome.Reason(), outcome.IsDone())
			}
			if plan.waits() == tc.done {
				t.Errorf("the keys stay: %t", plan.waits())
			}
			for _, part := range tc.says {
				if !strings.Contains(outcome.Message(), part) {
					t.Errorf("the message lacks %q: %s", part, outcome.Message())
				}
			}
		})
	}
}
