package secrets_test

import (
	"strings"
	"testing"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/secrets"
)

func source(uid string, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{Data: map[string][]byte{}}
	secret.UID = types.UID(uid)
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

func TestTheContentHashChangesWithTheContentOnly(t *testing.T) {
	base := source("a", map[string]string{"0": "x", "1": "y"})
	same := base.DeepCopy()
	same.Labels, same.Annotations, same.ResourceVersion = map[string]string{"a": "b"}, map[string]string{"c": "d"}, "7"
	if secrets.ContentHash(base) != secrets.ContentHash(same) {
		t.Error("the hash changed with the metadata")
	}
	for name, other := range map[string]*corev1.Secret{
		"another value":                   source("a", map[string]string{"0": "x", "1": "z"}),
		"another key":                     source("a", map[string]string{"0": "x", "2": "y"}),
		"one key less":                    source("a", map[string]string{"0": "x"}),
		"values that swapped places":      source("a", map[string]string{"0": "y", "1": "x"}),
		"the same text cut differently":   source("a", map[string]string{"0": "x\n1:1=1:y"}),
		"the same data in another Secret": source("b", map[string]string{"0": "x", "1": "y"}),
	} {
		if secrets.ContentHash(base) == secrets.ContentHash(other) {
			t.Errorf("%s has the same hash", name)
		}
	}
}

func TestAPushOfEarlierContentDoesNotCountAsSynced(t *testing.T) {
	ps := &esov1alpha1.PushSecret{Status: esov1alpha1.PushSecretStatus{
		SyncedResourceVersion: "1-a",
		Conditions:            []esov1alpha1.PushSecretStatusCondition{{Type: esov1alpha1.PushSecretReady, Status: corev1.ConditionTrue}},
	}}
	ps.Annotations = map[string]string{"forge.c5c3.io/pushed-before": "1-a"}
	if got := secrets.PushStateOf(ps); got != (secrets.PushState{}) {
		t.Errorf("state %+v before the push of new content, want none", got)
	}
	ps.Status.SyncedResourceVersion = "1-b"
	if got := secrets.PushStateOf(ps); !got.Synced {
		t.Errorf("state %+v after the push of new content, want it to be synced", got)
	}
	ps.Status.SyncedResourceVersion, ps.Status.Conditions[0].Status = "1-a", corev1.ConditionFalse
	ps.Status.Conditions[0].Message = "sealed"
	if got := secrets.PushStateOf(ps); !got.Failed() {
		t.Errorf("state %+v when the push of new content fails, want a failure", got)
	}
}

func TestAPushIsRepeatedOncePerPeriod(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	const period = time.Hour
	for name, tc := range map[string]struct {
		pushed, asked time.Duration
		want          string
		wantDue       time.Duration
	}{
		"never pushed":        {},
		"pushed lately":       {pushed: 20 * time.Minute, wantDue: 40 * time.Minute},
		"pushed a period ago": {pushed: period, want: "2026-05-04T03:02:01Z", wantDue: period},
		"asked for lately and not pushed since": {
			pushed: 2 * period, asked: 10 * time.Minute,
			want: "2026-05-04T02:52:01Z", wantDue: 50 * time.Minute,
		},
		"asked for and pushed": {
			pushed: 5 * time.Minute, asked: 10 * time.Minute,
			want: "2026-05-04T02:52:01Z", wantDue: 55 * time.Minute,
		},
		"asked for a period ago and never pushed": {pushed: 3 * period, asked: period, want: "2026-05-04T03:02:01Z", wantDue: period},
	} {
		t.Run(name, func(t *testing.T) {
			live, ps := &esov1alpha1.PushSecret{}, &esov1alpha1.PushSecret{}
			if tc.pushed > 0 {
				live.Status.RefreshTime = metav1.NewTime(now.Add(-tc.pushed))
			}
			if tc.asked > 0 {
				live.Annotations = map[string]string{"forge.c5c3.io/push-again": now.Add(-tc.asked).Format(time.RFC3339)}
			}
			due := secrets.RepeatPush(ps, live, now, period)
			if got := ps.Annotations["forge.c5c3.io/push-again"]; got != tc.want {
				t.Errorf("asks for a push with %q, want %q", got, tc.want)
			}
			if due.IsZero() != (tc.wantDue == 0) || !due.IsZero() && due.Sub(now) != tc.wantDue {
				t.Errorf("the next one is due at %s, want it in %s", due, tc.wantDue)
			}
		})
	}
	if due := secrets.RepeatPush(&esov1alpha1.PushSecret{}, nil, now, period); !due.IsZero() {
		t.Errorf("one that is not there yet is due at %s", due)
	}
}

func TestThePushStateQuotesExternalSecrets(t *testing.T) {
	condition := func(status corev1.ConditionStatus, message string) []esov1alpha1.PushSecretStatusCondition {
		return []esov1alpha1.PushSecretStatusCondition{{
			Type: esov1alpha1.PushSecretReady, Status: status, Reason: esov1alpha1.ReasonErrored, Message: message,
		}}
	}
	for name, tc := range map[string]struct {
		conditions []esov1alpha1.PushSecretStatusCondition
		want       secrets.PushState
		failed     bool
	}{
		"not looked at yet": {nil, secrets.PushState{}, false},
		"pushed": {
			condition(corev1.ConditionTrue, "PushSecret synced successfully"),
			secrets.PushState{Synced: true, Message: "PushSecret synced successfully"},
			false,
		},
		"refused on several lines": {
			condition(corev1.ConditionFalse, "Code: 503. Errors:\n\n* Vault is sealed\n"),
			secrets.PushState{Message: "Code: 503. Errors: * Vault is sealed"},
			true,
		},
		"refused without a message": {condition(corev1.ConditionFalse, ""), secrets.PushState{Message: "Errored"}, true},
		"refused with many": {
			condition(corev1.ConditionFalse, strings.Repeat("é", 400)), secrets.PushState{Message: strings.Repeat("é", 250)}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := secrets.PushStateOf(&esov1alpha1.PushSecret{Status: esov1alpha1.PushSecretStatus{Conditions: tc.conditions}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if got.Failed() != tc.failed {
				t.Errorf("failed is %t, want %t", got.Failed(), tc.failed)
			}
		})
	}
}
