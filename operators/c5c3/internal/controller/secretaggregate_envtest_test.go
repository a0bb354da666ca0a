//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// collector is a namespace with a control plane whose Secrets are aggregated.
type collector struct {
	*world
	aggregate *c5c3v1alpha1.SecretAggregate
}

// newCollector creates a control plane with the user's own Secrets, so that a test
// controls their content, and a SecretAggregate of the database credentials with the
// changes.
func newCollector(t *testing.T, changes ...func(*c5c3v1alpha1.SecretAggregate)) *collector {
	t.Helper()
	w := newWorld(t, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Infrastructure.Database.Host = "db.example.com"
		c5c3v1alpha1.SetDefaults(cp)
	})
	c := &collector{w, &c5c3v1alpha1.SecretAggregate{
		ObjectMeta: w.meta("collected"), Spec: c5c3v1alpha1.SecretAggregateSpec{
			Sources: []c5c3v1alpha1.SecretAggregateSource{{Credential: c5c3v1alpha1.AggregatedDatabaseCredentials}},
		},
	}}
	for _, change := range changes {
		change(c.aggregate)
	}
	objects.Create(t, w, c.aggregate)
	return c
}

func (c *collector) secret(name string, entries ...string) *corev1.Secret {
	return secretNamed(c.cp.Namespace, name, entries...)
}

// expect waits for the SecretAggregate's Ready.
func (c *collector) expect(t *testing.T, status metav1.ConditionStatus, reason string, says ...string) {
	t.Helper()
	expect.Condition(t, c, c.aggregate, "Ready", status, reason, says...)
}

// holds waits until the named Secret holds exactly the given keys and values.
func (c *collector) holds(t *testing.T, name string, want map[string]string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: c.meta(name)}
	expect.Object(t, c, secret, func() error {
		got := map[string]string{}
		for key, value := range secret.Data {
			got[key] = string(value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("the Secret differs (-want +got):\n%s", diff)
		}
		return nil
	})
	return secret
}

var collected = map[string]string{"databaseCredentials.username": "keystone", "databaseCredentials.password": "first"}

// complete is a SecretAggregate that has aggregated the database credentials.
func complete(t *testing.T) *collector {
	t.Helper()
	c := newCollector(t)
	objects.Create(t, c, c.secret("keystone-db", "username", "keystone", "password", "first", "unrelated", "stays where it is"))
	c.expect(t, metav1.ConditionTrue, "SecretsAggregated", "holds 2 entries")
	return c
}

func TestASecretAggregateNamesWhatIsMissingAndFollowsWhatChanges(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	c.expect(t, metav1.ConditionFalse, "WaitingForSecrets", "Secret keystone-db (databaseCredentials)")
	expect.Condition(t, c, c.aggregate, "Reconciling", metav1.ConditionTrue, "Progressing", "Secret keystone-db")
	source := c.secret("keystone-db", "username", "keystone")
	objects.Create(t, c, source)
	c.expect(t, metav1.ConditionFalse, "WaitingForSecrets", "key password in Secret keystone-db (databaseCredentials)")
	objects.Change(t, c, source, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "first"} })
	c.expect(t, metav1.ConditionTrue, "SecretsAggregated")
	target := c.holds(t, "collected", collected)
	if !metav1.IsControlledBy(target, c.aggregate) || c.aggregate.Status.TargetSecretName != "collected" {
		t.Errorf("owners %v, status %+v", target.OwnerReferences, c.aggregate.Status)
	}
	objects.Change(t, c, source, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "second"} })
	second := map[string]string{"databaseCredentials.username": "keystone", "databaseCredentials.password": "second"}
	c.holds(t, "collected", second)
	objects.Delete(t, c, source)
	c.expect(t, metav1.ConditionFalse, "WaitingForSecrets", "Secret keystone-db")
	c.holds(t, "collected", second)
}

func TestTheTargetSecretIsRecreatedAndDeletedWithItsAggregate(t *testing.T) {
	t.Parallel()
	c := complete(t)
	target := c.holds(t, "collected", collected)
	objects.Delete(t, c, target)
	target = c.holds(t, "collected", collected)
	objects.Delete(t, c, c.aggregate)
	expect.Gone(t, c, target)
}

func TestARenamedTargetReplacesTheFormerOne(t *testing.T) {
	t.Parallel()
	c := complete(t)
	former := c.holds(t, "collected", collected)
	objects.Change(t, c, c.aggregate, func(a *c5c3v1alpha1.SecretAggregate) { a.Spec.TargetSecretName = "renamed" })
	c.holds(t, "renamed", collected)
	expect.Gone(t, c, former)
	c.expect(t, metav1.ConditionTrue, "SecretsAggregated", "Secret renamed")
}

func TestCollidingKeysAreRefusedAndTheSecretStaysAsItWas(t *testing.T) {
	t.Parallel()
	c := complete(t)
	objects.Create(t, c, c.secret("keystone-admin", "password", "admin"))
	objects.Change(t, c, c.aggregate, func(a *c5c3v1alpha1.SecretAggregate) {
		a.Spec.Sources = []c5c3v1alpha1.SecretAggregateSource{
			{Credential: c5c3v1alpha1.AggregatedDatabaseCredentials, KeyPrefix: new("")},
			{Credential: c5c3v1alpha1.AggregatedAdminPassword, KeyPrefix: new("")},
		}
	})
	c.expect(t, metav1.ConditionFalse, "KeyCollision", "databaseCredentials and adminPassword", "another keyPrefix")
	expect.Condition(t, c, c.aggregate, "Stalled", metav1.ConditionTrue, "KeyCollision")
	c.holds(t, "collected", collected)
	objects.Change(t, c, c.aggregate, func(a *c5c3v1alpha1.SecretAggregate) { a.Spec.Sources[1].KeyPrefix = new("admin-") })
	c.holds(t, "collected", map[string]string{"username": "keystone", "password": "first", "admin-password": "admin"})
	c.expect(t, metav1.ConditionTrue, "SecretsAggregated")
	if conditions := c.aggregate.Status.Conditions; len(conditions) != 1 {
		t.Errorf("conditions %v, expected Ready alone", conditions)
	}
}

func TestASecretOfTheControlPlaneIsRefusedAsATarget(t *testing.T) {
	t.Parallel()
	c := newCollector(t, func(a *c5c3v1alpha1.SecretAggregate) { a.Spec.TargetSecretName = "k-orc-clouds-yaml" })
	c.expect(t, metav1.ConditionFalse, "InvalidSpec", "belongs to ControlPlane controlplane", "spec.targetSecretName")
	expect.Condition(t, c, c.aggregate, "Stalled", metav1.ConditionTrue, "InvalidSpec")
	objects.Change(t, c, c.aggregate, func(a *c5c3v1alpha1.SecretAggregate) { a.Spec.TargetSecretName = "free" })
	c.expect(t, metav1.ConditionFalse, "WaitingForSecrets")
}

func TestASecretAggregateNeedsExactlyOneControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	aggregate := &c5c3v1alpha1.SecretAggregate{ObjectMeta: w.meta("collected")}
	objects.Create(t, w, aggregate)
	expect.Condition(t, w, aggregate, "Ready", metav1.ConditionFalse, "NoControlPlane", "in namespace "+w.cp.Namespace)
	objects.Create(t, w, w.cp)
	expect.Condition(t, w, aggregate, "Ready", metav1.ConditionFalse, "WaitingForSecrets")
	second := &c5c3v1alpha1.ControlPlane{ObjectMeta: w.meta("another"), Spec: w.cp.Spec}
	objects.Create(t, w, second)
	expect.Condition(t, w, aggregate, "Ready", metav1.ConditionFalse, "AmbiguousControlPlane", "another, controlplane")
	expect.Condition(t, w, aggregate, "Stalled", metav1.ConditionTrue, "AmbiguousControlPlane")
	objects.Delete(t, w, second)
	expect.Condition(t, w, aggregate, "Ready", metav1.ConditionFalse, "WaitingForSecrets")
}

func TestASecretAggregateFollowsTheNamesInTheControlPlane(t *testing.T) {
	t.Parallel()
	c := complete(t)
	objects.Create(t, c, c.secret("other-db", "username", "other", "pw", "other-password"))
	objects.Change(t, c, c.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Infrastructure.Database.SecretRef.Name, cp.Spec.Infrastructure.Database.SecretRef.Key = "other-db", "pw"
	})
	c.holds(t, "collected", map[string]string{"databaseCredentials.username": "other", "databaseCredentials.pw": "other-password"})
}

func TestASecretAggregateReadsNothingOutsideItsNamespace(t *testing.T) {
	t.Parallel()
	there, here := complete(t), newCollector(t)
	here.expect(t, metav1.ConditionFalse, "WaitingForSecrets")
	before := requests.Snapshot()
	objects.Create(t, here, here.secret("keystone-db", "username", "here", "password", "here"))
	here.holds(t, "collected", map[string]string{"databaseCredentials.username": "here", "databaseCredentials.password": "here"})
	there.holds(t, "collected", collected)
	others := requests.Since(before).Filter(func(r transport.Request) bool {
		everywhere := r.Namespace == "" && r.Verb == "list"
		return r.Resource == "secrets" && (r.Namespace == there.cp.Namespace || everywhere)
	})
	if len(others) > 0 {
		t.Errorf("it made these requests elsewhere:\n%s", others)
	}
}

func TestNoEventHasContentOfAnAggregatedSecret(t *testing.T) {
	t.Parallel()
	c := complete(t)
	expect.Eventually(t, "the event about the collected Secrets", func(context.Context) error {
		for _, event := range expect.Events(t, c, c.aggregate) {
			if strings.Contains(event.Message, "first") {
				t.Errorf("an event holds a password: %s", event.Message)
			}
			if event.Reason == "SecretsAggregated" {
				return nil
			}
		}
		return errors.New("there is none")
	})
}
