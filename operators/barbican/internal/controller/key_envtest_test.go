//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/vocabulary"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

const (
	keyFile = "kek.conf"
	rewrap  = "barbican-key-rewrap"
	// otherKey is what the check of the database says.
	otherKey = "the database holds keys of 1 projects that are encrypted with another key"
)

func keySecret(namespace string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: keySecretName}}
}

// keysIn returns the keys that a pod reads from the Secret.
func keysIn(s *corev1.Secret) []string {
	return strings.Split(strings.TrimPrefix(strings.TrimSuffix(string(s.Data[keyFile]), "\n"), "[simple_crypto_plugin]\nkek = "), "\nkek = ")
}

func keysOf(ctx context.Context, namespace string) ([]string, *corev1.Secret, error) {
	found := keySecret(namespace)
	err := world.Admin.Get(ctx, client.ObjectKeyFromObject(found), found)
	return keysIn(found), found, err
}

// ready returns a Barbican that has converged, and its key.
func ready(t *testing.T) (i *conformance.Instance[*barbicanv1alpha1.Barbican], key string) {
	t.Helper()
	i = conformance.Prepared(t, barbicans, &world)
	i.Create()
	i.Ready()
	keys, _, err := keysOf(t.Context(), i.Resource.GetNamespace())
	if err != nil || len(keys) != 1 || fernet.ValidateKey([]byte(keys[0])) != nil {
		t.Fatalf("there are %d keys, error %v", len(keys), err)
	}
	return i, keys[0]
}

// request requests another key.
func request(b *barbicanv1alpha1.Barbican) {
	metav1.SetMetaDataAnnotation(&b.ObjectMeta, barbicanv1alpha1.AnnotationRotateKey, "2026-11")
}

func TestAKeyIsReplacedInStepsThatAllPodsHaveFollowed(t *testing.T) {
	t.Parallel()
	i, old := ready(t)
	namespace := i.Resource.GetNamespace()
	// A pod of the old keys that is still being deleted.
	leftover := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "leftover", Labels: barbicanv1alpha1.SelectorLabels("barbican"),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "barbican", Image: "ghcr.io/c5c3/barbican:2025.2"}}},
	}
	leftover.Labels["app.kubernetes.io/managed-by"] = "barbican-operator"
	objects.Create(t, world.Admin, leftover)
	world.Jobs.Set(namespace, rewrap, standin.Hang())
	changes := expect.Follow(t, world.Env.Config, world.Admin, i.Resource)
	objects.Change(t, world.Admin, i.Resource, request)
	changes.Condition(t, barbicanv1alpha1.ConditionKeyReady, metav1.ConditionTrue,
		barbicanv1alpha1.ReasonKeyRotationInProgress, "until all API pods have the keys")
	if keys, _, err := keysOf(t.Context(), namespace); err != nil || keys[0] != old {
		t.Errorf("another key encrypts before all pods have it, error %v", err)
	}
	objects.Delete(t, world.Admin, leftover)
	expect.Condition(t, world.Admin, i.Resource, barbicanv1alpha1.ConditionKeyReady, metav1.ConditionTrue,
		barbicanv1alpha1.ReasonKeyRotationInProgress, "until Job "+rewrap)
	if keys, _, err := keysOf(t.Context(), namespace); err != nil || len(keys) != 2 || keys[1] != old {
		t.Errorf("there are %d keys while the old one is still needed, error %v", len(keys), err)
	}
	world.Jobs.Set(namespace, rewrap, standin.Fail(otherKey))
	i.Fails(barbicanv1alpha1.ConditionKeyReady, barbicanv1alpha1.ReasonKeyRewrapFailed, "the old one stays", "keys of 1 projects")
	if keys, _, err := keysOf(t.Context(), namespace); err != nil || !slices.Contains(keys, old) {
		t.Errorf("the old key is gone although something needs it, error %v", err)
	}
}

func TestAReplacedKeyIsRemovedAndTheRequestIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	i, old := ready(t)
	namespace := i.Resource.GetNamespace()
	objects.Change(t, world.Admin, i.Resource, request)
	expect.Eventually(t, "a new key alone", func(ctx context.Context) error {
		keys, _, err := keysOf(ctx, namespace)
		if err == nil && (len(keys) != 1 || keys[0] == old) {
			err = fmt.Errorf("there are %d keys", len(keys))
		}
		return err
	})
	i.Ready()
	expect.Eventually(t, "one announcement", func(context.Context) error {
		if got := i.Operator.Announced(i.Resource)["Normal "+barbicanv1alpha1.EventKeyRotated]; got != 1 {
			return fmt.Errorf("the rotation was announced %d times", got)
		}
		return nil
	})
	expect.Eventually(t, "a copy of the new key in the store", func(ctx context.Context) error {
		_, secret, err := keysOf(ctx, namespace)
		if stored := world.Secrets.Stored("openstack/barbican/" + namespace + "/barbican/key-encryption-key"); err == nil &&
			stored[keyFile] != string(secret.Data[keyFile]) {
			err = errors.New("the store has another one")
		}
		return err
	})
}

func TestAReleaseThatCannotRewrapRefusesTheRotation(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, barbicans, &world)
	i.Resource.Spec.Image.Tag = "2024.2"
	i.Create()
	i.Ready()
	objects.Change(t, world.Admin, i.Resource, request)
	i.Fails(barbicanv1alpha1.ConditionKeyReady, barbicanv1alpha1.ReasonKeyRotationRefused, "release 2024.2", "2025.1 or later")
	objects.Change(t, world.Admin, i.Resource, func(b *barbicanv1alpha1.Barbican) { b.Annotations = nil })
	i.Ready()
}

func TestALostOrDamagedKeyIsReportedAndNotReplaced(t *testing.T) {
	t.Parallel()
	i, old := ready(t)
	namespace := i.Resource.GetNamespace()
	_, before, err := keysOf(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	objects.Change(t, world.Admin, keySecret(namespace), func(s *corev1.Secret) {
		s.Data[keyFile] = []byte("[simple_crypto_plugin]\nkek = short\n")
	})
	i.Fails(barbicanv1alpha1.ConditionKeyReady, vocabulary.ReasonKeysMissing, "does not hold usable keys", "has 5 characters")
	objects.Delete(t, world.Admin, keySecret(namespace))
	i.Fails(barbicanv1alpha1.ConditionKeyReady, vocabulary.ReasonKeysMissing,
		keySecretName+" is gone", "every stored secret becomes unreadable")
	expect.Gone(t, world.Admin, keySecret(namespace))
	// A restored Secret may have lost the operator's labels.
	objects.Create(t, world.Admin, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: keySecretName}, Data: before.Data,
	})
	i.Ready()
	if keys, _, err := keysOf(t.Context(), namespace); err != nil || !slices.Equal(keys, []string{old}) {
		t.Errorf("the key differs from the one that was restored, error %v", err)
	}
}

func TestAChangedKeyIsTestedBeforePodsAndTheStoreGetIt(t *testing.T) {
	t.Parallel()
	i, _ := ready(t)
	namespace := i.Resource.GetNamespace()
	path := "openstack/barbican/" + namespace + "/barbican/key-encryption-key"
	_, before, err := keysOf(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "a copy in the store", func(context.Context) error { return storeHas(path, before) })
	pods := podTemplate(t, namespace)
	world.Jobs.Set(namespace, "barbican-key-check", standin.FailWith(78, otherKey))
	change := func(data map[string][]byte) {
		objects.Change(t, world.Admin, keySecret(namespace), func(s *corev1.Secret) { s.Data = data })
	}
	other := func(letter string) *corev1.Secret {
		changed := before.DeepCopy()
		changed.Data[keyFile] = []byte("[simple_crypto_plugin]\nkek = " + strings.Repeat(letter, 42) + "A=\n")
		change(changed.Data)
		return changed
	}
	other("a")
	i.Fails(barbicanv1alpha1.ConditionKeyReady, vocabulary.ReasonKeysMissing, "cannot read the keys of projects", "keys of 1 projects")
	if diff := cmp.Diff(pods, podTemplate(t, namespace)); diff != "" {
		t.Errorf("pods get a key that cannot read the database:\n%s", diff)
	}
	if err := storeHas(path, before); err != nil {
		t.Errorf("the copy in the store: %v", err)
	}
	world.Jobs.Set(namespace, "barbican-key-check", standin.Succeed())
	runs := len(world.Jobs.Runs(namespace, "barbican-key-check"))
	change(before.Data)
	i.Ready()
	// Pods may have used the other key in between.
	expect.Eventually(t, "a test of the previous key", func(context.Context) error {
		if len(world.Jobs.Runs(namespace, "barbican-key-check")) == runs {
			return errors.New("there is none")
		}
		return nil
	})
	expect.Gone(t, world.Admin, keyCheck(namespace))
	changed := other("b")
	expect.Eventually(t, "a copy of the tested key in the store", func(context.Context) error { return storeHas(path, changed) })
	i.Ready()
}

func keyCheck(namespace string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "barbican-key-check"}}
}

// storeHas returns an error unless the store has the key of the Secret.
func storeHas(path string, want *corev1.Secret) error {
	if world.Secrets.Stored(path)[keyFile] != string(want.Data[keyFile]) {
		return errors.New("it has another key")
	}
	return nil
}

func podTemplate(t *testing.T, namespace string) corev1.PodTemplateSpec {
	t.Helper()
	api := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "barbican"}}
	expect.Exists(t, world.Admin, api)
	return api.Spec.Template
}

func TestTheKeyOfADatabaseInUseIsRestoredFromTheStore(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, barbicans, &world)
	namespace := i.Resource.GetNamespace()
	former := "[simple_crypto_plugin]\nkek = " + strings.Repeat("a", 42) + "A=\n"
	path := "openstack/barbican/" + namespace + "/barbican/key-encryption-key"
	world.Secrets.Put(path, map[string]string{keyFile: former})
	world.Secrets.Set("ExternalSecret", namespace, keySecretName, standin.Fail("Vault is sealed"))
	world.Jobs.Set(namespace, "barbican-db-sync", standin.FailWith(78, otherKey))
	i.Create()
	i.Fails(barbicanv1alpha1.ConditionKeyReady, vocabulary.ReasonGeneratingKeys, "Vault is sealed")
	expect.Gone(t, world.Admin, keySecret(namespace))
	world.Jobs.Set(namespace, "barbican-db-sync", standin.Succeed())
	world.Secrets.Set("ExternalSecret", namespace, keySecretName, standin.Succeed())
	i.Ready()
	if _, secret, err := keysOf(t.Context(), namespace); err != nil || string(secret.Data[keyFile]) != former {
		t.Errorf("the key differs from the one in the store, error %v", err)
	}
}

// turn is what a walk through a rotation is judged by.
type turn struct {
	Keys      int
	Settled   bool
	Answered  string
	Rewrapped int
	Condition string
}

func observeTurn(ctx context.Context, namespace string) (turn, error) {
	keys, secret, err := keysOf(ctx, namespace)
	if err != nil {
		return turn{}, err
	}
	b := barbican(namespace, "barbican")
	if err := world.Admin.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
		return turn{}, err
	}
	seen := turn{
		Keys: len(keys), Settled: len(secret.Data["replaced-key"]) == 0, Answered: string(secret.Data["answered-request"]),
		Rewrapped: len(world.Jobs.Runs(namespace, rewrap)),
	}
	for _, condition := range b.Status.Conditions {
		if condition.Type == barbicanv1alpha1.ConditionKeyReady {
			seen.Condition = string(condition.Status) + "/" + condition.Reason
		}
	}
	return seen, nil
}

func TestARotationSurvivesAKillAtAnyWrite(t *testing.T) {
	t.Parallel()
	conformance.Walk(t, barbicans, &world, request, crashwalk.Scenario[turn]{
		Writes: map[string]int{"update secrets": 3, "create jobs.batch": 1, "apply deployments.apps": 3},
		Settled: func(ctx context.Context, namespace string) error {
			seen, err := observeTurn(ctx, namespace)
			if err == nil && (seen.Answered == "" || !seen.Settled) {
				err = fmt.Errorf("the rotation is not over: %+v", seen)
			}
			return err
		},
		Observe: observeTurn,
		Compare: func(undisturbed, failed, final turn) string {
			switch {
			case !failed.Settled && failed.Keys != 2:
				return fmt.Sprintf("a key is missing during the rotation: %+v", failed)
			case failed.Settled && failed.Answered != "" && failed.Rewrapped == 0:
				return "the old key was removed before everything was encrypted with the new one"
			}
			return cmp.Diff(undisturbed, final)
		},
	})
}
