package apply

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func configMap(uid types.UID, version, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "thing", UID: uid, ResourceVersion: version}, Data: map[string]string{"key": value},
	}
}

func TestAMemoEntryHoldsForOneVersionAndOneDesiredState(t *testing.T) {
	m := &memo{}
	desired := configMap("", "", "one")
	known, ok := verdictOf(configMap("a", "7", ""), desired, FieldManager)
	if !ok || m.has("a", known) {
		t.Fatalf("known before it was noted: %t, can be remembered: %t", m.has("a", known), ok)
	}
	m.note("a", known, time.Now())
	for name, c := range map[string]struct {
		live    *corev1.ConfigMap
		desired *corev1.ConfigMap
		manager string
		want    bool
	}{
		"the same":        {configMap("a", "7", ""), configMap("", "", "one"), FieldManager, true},
		"another version": {configMap("a", "8", ""), desired, FieldManager, false},
		"another object":  {configMap("b", "7", ""), desired, FieldManager, false},
		"another wish":    {configMap("a", "7", ""), configMap("", "", "two"), FieldManager, false},
		"another manager": {configMap("a", "7", ""), desired, "somebody", false},
	} {
		asked, ok := verdictOf(c.live, c.desired, c.manager)
		if got := ok && m.has(c.live.UID, asked); got != c.want {
			t.Errorf("%s: known: %t, want %t", name, got, c.want)
		}
	}
	if _, ok := verdictOf(configMap("", "", ""), desired, FieldManager); ok {
		t.Error("an object without an identity can be remembered")
	}
}

func TestAnUnusedMemoEntryIsEvicted(t *testing.T) {
	m, now := &memo{}, time.Now()
	same := verdict{1}
	m.note("used", same, now)
	m.note("gone", same, now)
	for period := range 3 {
		now = now.Add(memoPeriod + time.Second)
		m.note("other", same, now)
		if !m.has("used", same) {
			t.Fatalf("period %d: a verdict in use was forgotten", period)
		}
	}
	if m.has("gone", same) || len(m.recent)+len(m.older) > 4 {
		t.Errorf("kept: %v and %v", m.recent, m.older)
	}
}
