package korc

import (
	"context"
	"errors"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestAReplacedCredentialIsKeptForAtLeastTwoMinutes(t *testing.T) {
	at := func(ago time.Duration) string { return fixture.Noon.Add(-ago).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		supersededAt, overlap string
		want                  time.Duration
		began                 bool
	}{
		"not yet delivered":               {"", "", 2 * time.Minute, false},
		"not yet delivered, with a grace": {"", "24h", fixture.Day, false},
		"an unreadable time":              {"yesterday", "", 2 * time.Minute, false},
		"an unreadable grace period":      {at(0), "a day", 2 * time.Minute, true},
		"just now":                        {at(0), "", 2 * time.Minute, true},
		"with a grace that is shorter":    {at(0), "30s", 2 * time.Minute, true},
		"with a grace that is longer":     {at(time.Hour), "24h", 23 * time.Hour, true},
		"a minute ago":                    {at(time.Minute), "", time.Minute, true},
		"two minutes ago":                 {at(2 * time.Minute), "", 0, true},
		"long ago":                        {at(fixture.Day), "1h", -23 * time.Hour, true},
		"by a clock that was ahead":       {at(-fixture.Day), "", 2 * time.Minute, false},
	} {
		tools := &pass.Tools{Access: kube.Access{Clock: func() time.Time { return fixture.Noon }}, SpreadTime: fixture.SpreadTime}
		s := pass.New(tools, &c5c3v1alpha1.ControlPlane{})
		old := &orcv1alpha1.ApplicationCredential{}
		old.Annotations = map[string]string{
			c5c3v1alpha1.AnnotationSupersededAt: c.supersededAt, c5c3v1alpha1.AnnotationCredentialOverlap: c.overlap,
		}
		due, began := ValidUntil(s, old)
		if wait := due.Sub(fixture.Noon); wait != c.want || began != c.began {
			t.Errorf("%s: it works for another %s (begun: %t), expected %s (%t)", name, wait, began, c.want, c.began)
		}
	}
}

func TestTheGracePeriodIsNotRestartedFromAStaleObject(t *testing.T) {
	old := &orcv1alpha1.ApplicationCredential{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "superseded"}}
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(old).Build()
	tools := &pass.Tools{Access: kube.Access{ThirdParty: c, Clock: func() time.Time { return fixture.Noon }}, SpreadTime: fixture.SpreadTime}
	s := pass.New(tools, &c5c3v1alpha1.ControlPlane{})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	behind := old.DeepCopy()
	if _, err := Revoke(t.Context(), s, old); err != nil {
		t.Fatal(err)
	}
	s.Clock = func() time.Time { return fixture.Noon.Add(time.Minute) }
	if _, err := Revoke(t.Context(), s, behind); !apierrors.IsConflict(err) {
		t.Errorf("it ended with %v, want a conflict", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	if got, want := old.Annotations[c5c3v1alpha1.AnnotationSupersededAt], fixture.Noon.UTC().Format(time.RFC3339); got != want {
		t.Errorf("the time began at %s, want %s", got, want)
	}
}

func TestARevocationIsOverdueOnlyOnceItHasFailed(t *testing.T) {
	s := pass.New(&pass.Tools{
		Access: kube.Access{Clock: func() time.Time { return fixture.Noon }}, SpreadTime: fixture.SpreadTime,
		Proofs: identity.NewProofs(nil, func(string) time.Time { return fixture.Noon }, identity.ProofPeriod, identity.LoginPeriod),
	}, &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.ControlPlane.Namespace, Name: fixture.ControlPlane.Name}})
	old := &orcv1alpha1.ApplicationCredential{}
	old.Status.ID = new("id")
	old.Annotations = map[string]string{c5c3v1alpha1.AnnotationSupersededAt: fixture.Noon.Add(-time.Hour).Format(time.RFC3339)}
	if _, overdue := OverdueSince(s, old); overdue {
		t.Error("it is overdue before it was tried, as after an outage of the operator")
	}
	_ = s.Proofs.Revoke(s.NamespacedName, "id", time.Second, func(context.Context) error { return errors.New("away") })
	fixture.Answer(t.Context(), s.Proofs.Ledger)
	if since, overdue := OverdueSince(s, old); !overdue || !since.Equal(fixture.Noon.Add(fixture.SpreadTime-time.Hour)) {
		t.Errorf("it is overdue since %s (%t)", since, overdue)
	}
	old.Status.ID = new("another")
	old.DeletionTimestamp = &metav1.Time{Time: fixture.Noon.Add(-time.Minute)}
	if since, overdue := OverdueSince(s, old); !overdue || !since.Equal(fixture.Noon.Add(-time.Minute)) {
		t.Errorf("one that is being deleted is overdue since %s (%t)", since, overdue)
	}
}
