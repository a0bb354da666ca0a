//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// Two passwords as a rotation Job generates them.
var firstPassword, secondPassword = "-" + strings.Repeat("a1_", 16), strings.Repeat("Zz-9", 11)

// rotationObjects are the objects of a Keystone's password rotation by kind.
var rotationObjects = []string{
	"CronJob keystone-admin-password-rotate", "PushSecret keystone-admin-password-backup", "Role keystone-admin-password-rotate",
	"RoleBinding keystone-admin-password-rotate", "Secret keystone-admin-password-next", "Secret keystone-admin-password-rotation",
	"ServiceAccount keystone-admin-password-rotate", "ConfigMap keystone-admin-password-rotate-script-HASH",
}

func rotatingKeystone(namespace string) *keystonev1alpha1.Keystone {
	k := testutil.Brownfield(namespace, testutil.Name)
	k.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	return k
}

func passwordPath(namespace string) string { return "bootstrap/" + namespace + "/keystone/admin" }

// adminSecretFrom has External Secrets deliver the administrator's Secret.
func adminSecretFrom(namespace, path string) *esv1.ExternalSecret {
	external := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: testutil.AdminSecret}}
	external.Spec.SecretStoreRef = esv1.SecretStoreRef{Name: "openbao-cluster-store", Kind: "ClusterSecretStore"}
	external.Spec.Data = []esv1.ExternalSecretData{{
		SecretKey: "password", RemoteRef: esv1.ExternalSecretDataRemoteRef{Key: path, Property: "password"},
	}}
	return external
}

// throughStore returns the inputs of a Keystone whose administrator's Secret comes from
// path.
func throughStore(namespace, path string) []client.Object {
	secrets.Put(path, map[string]string{"password": "from-the-deployer"})
	return []client.Object{testutil.Secrets(namespace)[0], adminSecretFrom(namespace, path)}
}

// stagePassword writes a password to the staging Secret as the rotation Job does.
func stagePassword(t *testing.T, c client.Client, namespace, password string, at time.Time) {
	t.Helper()
	staging := secret(namespace, "keystone-admin-password-rotation", nil)
	expect.Exists(t, c, staging)
	objects.Change(t, c, staging, func(s *corev1.Secret) { setStaged(s, password, at) })
}

// madeIn returns when the password of a round was generated, some time ago. Rotations are
// distinguished by the second, and a fast machine makes two in one.
func madeIn(round int) time.Time { return time.Now().Add(time.Duration(round-2) * time.Minute) }

func setStaged(s *corev1.Secret, password string, at time.Time) {
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, "forge.c5c3.io/rotation-completed-at", at.UTC().Format(time.RFC3339))
	s.Data = map[string][]byte{"password": []byte(password)}
}

// holds returns nil if the key password of the Secret has the value.
func holds(ctx context.Context, c client.Client, namespace, name, password string) error {
	got := secret(namespace, name, nil)
	if err := c.Get(ctx, client.ObjectKeyFromObject(got), got); err != nil {
		return err
	}
	if string(got.Data["password"]) != password {
		return fmt.Errorf("the Secret %s does not hold it", name)
	}
	return nil
}

func expectPassword(t *testing.T, c client.Client, namespace, name, password string) {
	t.Helper()
	expect.Eventually(t, "the password in Secret "+name, func(ctx context.Context) error {
		return holds(ctx, c, namespace, name, password)
	})
}

func startRotating(t *testing.T, inputs ...client.Object) (client.Client, *keystonev1alpha1.Keystone, *testutil.Operator) {
	t.Helper()
	c, namespace := newNamespace(t)
	for _, obj := range inputs {
		obj.SetNamespace(namespace)
		objects.Create(t, c, obj)
	}
	operator := testutil.Start(t, asOperator, namespace)
	k := rotatingKeystone(namespace)
	objects.Create(t, c, k)
	return c, k, operator
}

func expectRotated(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator, password string) {
	t.Helper()
	expectPassword(t, c, k.Namespace, testutil.AdminSecret, password)
	expectPassword(t, c, k.Namespace, "keystone-admin-password-next", password)
	expect.Eventually(t, "the password in the store", func(context.Context) error {
		if secrets.Stored(passwordPath(k.Namespace))["password"] != password {
			return errors.New("it is not there")
		}
		return nil
	})
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "PasswordRotationConfigured",
		"The last password was generated at")
	ready(t, c, k)
	settle(t, c, k, operator)
}

// expectBootstraps waits until bootstrap has run that many times: until then a Keystone
// is ready with its old password.
func expectBootstraps(t *testing.T, k *keystonev1alpha1.Keystone, times int) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("%d runs of bootstrap", times), func(context.Context) error {
		if got := len(jobs.Runs(k.Namespace, "keystone-bootstrap")); got != times {
			return fmt.Errorf("it ran %d times", got)
		}
		return nil
	})
}

func TestAStagedPasswordIsWrittenToAPlainSecret(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "PasswordRotationConfigured", "0 0 1 * *")
	if err := holds(t.Context(), c, k.Namespace, "keystone-admin-password-next", ""); err == nil {
		t.Error("there is a next password before any was made")
	}
	for round, password := range []string{firstPassword, secondPassword} {
		stagePassword(t, c, k.Namespace, password, madeIn(round))
		expectBootstraps(t, k, round+2)
		expectRotated(t, c, k, operator, password)
		expectBootstraps(t, k, round+2)
		expectPassword(t, c, k.Namespace, "keystone-admin-password-rotation", "")
	}
	expectEvents(t, c, k, "Normal AdminPasswordRotated", 2)
	if strings.Contains(operator.Log(), firstPassword) || strings.Contains(expect.State(t, c, k), firstPassword) {
		t.Error("a password shows up in the log or in the status")
	}
}

func TestAStagedPasswordReachesTheSecretThroughTheStore(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t)
	objects.Create(t, c, throughStore(namespace, passwordPath(namespace))...)
	operator := testutil.Start(t, asOperator, namespace)
	k := rotatingKeystone(namespace)
	objects.Create(t, c, k)
	ready(t, c, k)
	for round, password := range []string{firstPassword, secondPassword} {
		stagePassword(t, c, namespace, password, madeIn(round))
		expectRotated(t, c, k, operator, password)
	}
}

func TestAStagedPasswordIsHeldWhileBootstrapCannotRun(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	tag := k.Spec.Image.Tag
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Image.Tag = "2024.1" })
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DowngradeNotSupported")
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "AdminPasswordRotated", "until bootstrap has succeeded")
	settle(t, c, k, operator)
	if holds(t.Context(), c, k.Namespace, testutil.AdminSecret, firstPassword) == nil {
		t.Error("the administrator's Secret has a password that Keystone does not have")
	}
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Image.Tag = tag })
	expectRotated(t, c, k, operator, firstPassword)
}

func TestAPasswordThatIsChangedByHandAfterARotationStays(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expectBootstraps(t, k, 2)
	expectRotated(t, c, k, operator, firstPassword)
	objects.Change(t, c, secret(k.Namespace, testutil.AdminSecret, nil), func(s *corev1.Secret) {
		s.StringData = map[string]string{"password": "by hand"}
	})
	expectBootstraps(t, k, 3)
	settle(t, c, k, operator)
	if err := holds(t.Context(), c, k.Namespace, testutil.AdminSecret, "by hand"); err != nil {
		t.Error(err)
	}
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "PasswordRotationConfigured")
}

func TestARotationWaitsForASealedStore(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t)
	objects.Create(t, c, throughStore(namespace, passwordPath(namespace))...)
	operator := testutil.Start(t, asOperator, namespace)
	k := rotatingKeystone(namespace)
	secrets.Set("PushSecret", namespace, "keystone-admin-password-backup", standin.Fail("Vault is sealed"))
	objects.Create(t, c, k)
	ready(t, c, k)
	stagePassword(t, c, namespace, firstPassword, time.Now())
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "AdminPasswordRotated", "being delivered", "Vault is sealed")
	ready(t, c, k)
	if err := holds(t.Context(), c, namespace, testutil.AdminSecret, "from-the-deployer"); err != nil {
		t.Error("the password changed although the store does not have the new one")
	}
	secrets.Set("PushSecret", namespace, "keystone-admin-password-backup", standin.Succeed())
	expectRotated(t, c, k, operator, firstPassword)
}

func TestAFailedPasswordDeliveryIsReported(t *testing.T) {
	for _, tc := range []struct {
		name   string
		inputs func(namespace string) []client.Object
		says   []string
		repair func(t *testing.T, c client.Client, namespace string)
	}{
		{
			"the ExternalSecret reads another path",
			func(namespace string) []client.Object { return throughStore(namespace, "elsewhere/"+namespace) },
			[]string{"ExternalSecret keystone-admin", "has to read property password of bootstrap/"},
			func(t *testing.T, c client.Client, namespace string) {
				t.Helper()
				objects.Change(t, c, adminSecretFrom(namespace, ""), func(e *esv1.ExternalSecret) {
					e.Spec.Data[0].RemoteRef.Key = passwordPath(namespace)
				})
			},
		},
		{
			"the Secret is immutable",
			func(namespace string) []client.Object {
				objects := testutil.Secrets(namespace)
				objects[1].(*corev1.Secret).Immutable = new(true)
				return objects
			},
			[]string{"is immutable", "copy key password of Secret keystone-admin-password-next"},
			func(t *testing.T, c client.Client, namespace string) {
				t.Helper()
				objects.Delete(t, c, secret(namespace, testutil.AdminSecret, nil))
				again := secret(namespace, testutil.AdminSecret, map[string]string{"password": firstPassword})
				again.Labels = allowWrite
				objects.Create(t, c, again)
			},
		},
		{
			"another controller writes the Secret",
			func(namespace string) []client.Object {
				objects := testutil.Secrets(namespace)
				objects[1].SetOwnerReferences([]metav1.OwnerReference{{
					APIVersion: "bitnami.com/v1alpha1", Kind: "SealedSecret", Name: "admin", UID: "1", Controller: new(true),
				}})
				return objects
			},
			[]string{"controlled by SealedSecret admin"},
			func(t *testing.T, c client.Client, namespace string) {
				t.Helper()
				objects.Change(t, c, secret(namespace, testutil.AdminSecret, nil), func(s *corev1.Secret) {
					s.OwnerReferences, s.Labels = nil, allowWrite
				})
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, namespace := newNamespace(t, tc.inputs)
			operator := testutil.Start(t, asOperator, namespace)
			k := rotatingKeystone(namespace)
			objects.Create(t, c, k)
			ready(t, c, k)
			// Long ago, so that the timeout has passed.
			stagePassword(t, c, namespace, firstPassword, time.Now().Add(-time.Hour))
			expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, "AdminPasswordNotDelivered", tc.says...)
			expectEvent(t, c, k, "Warning AdminPasswordNotDelivered")
			tc.repair(t, c, namespace)
			expectRotated(t, c, k, operator, firstPassword)
		})
	}
}

func TestAnInvalidStagedPasswordIsRefused(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	refusals, current := map[string]int32{}, testutil.AdminPassword
	for i, tc := range []struct {
		name, reason string
		spoil        func(s *corev1.Secret)
	}{
		{"too short", "AdminPasswordRotationRejected", func(s *corev1.Secret) { s.Data["password"] = []byte("short") }},
		{"empty", "AdminPasswordRotationRejected", func(s *corev1.Secret) { s.Data = nil }},
		{"binary", "AdminPasswordRotationRejected", func(s *corev1.Secret) { s.Data["password"] = []byte(strings.Repeat("\x00", 40)) }},
		{"without a time", "AdminPasswordRotationAnnotationInvalid", func(s *corev1.Secret) {
			s.Annotations["forge.c5c3.io/rotation-completed-at"] = "yesterday"
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			staging := secret(k.Namespace, "keystone-admin-password-rotation", nil)
			objects.Change(t, c, staging, func(s *corev1.Secret) {
				setStaged(s, firstPassword, time.Now())
				tc.spoil(s)
			})
			expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, tc.reason, "keystone-admin-password-rotation")
			settle(t, c, k, operator)
			refusals[tc.reason]++
			expectEvents(t, c, k, "Warning "+tc.reason, refusals[tc.reason])
			if err := holds(t.Context(), c, k.Namespace, testutil.AdminSecret, current); err != nil {
				t.Error(err)
			}
			// The remedy in the condition's message, and the next run of the Job.
			objects.Delete(t, c, staging)
			ready(t, c, k)
			current = fmt.Sprintf("%s-%d", secondPassword, i)
			stagePassword(t, c, k.Namespace, current, time.Now())
			expectRotated(t, c, k, operator, current)
		})
	}
}

func TestDisablingPasswordRotationKeepsOnlyThePassword(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expectRotated(t, c, k, operator, firstPassword)
	before := testutil.Names(children(t, c, k))
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Bootstrap.PasswordRotation = nil })
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionTrue, "RotationDisabled")
	settle(t, c, k, operator)
	for _, object := range rotationObjects {
		if !slices.Contains(before, object) {
			t.Errorf("the rotation had no %s", object)
		}
		expect.Eventually(t, object+" to be gone", func(context.Context) error {
			if slices.Contains(testutil.Names(children(t, c, k)), object) {
				return errors.New("it is left")
			}
			return nil
		})
	}
	if err := holds(t.Context(), c, k.Namespace, testutil.AdminSecret, firstPassword); err != nil {
		t.Error(err)
	}
	if secrets.Stored(passwordPath(k.Namespace))["password"] != firstPassword {
		t.Error("the password is gone from the store")
	}
}

func TestThePushedPasswordOutlivesItsKeystone(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expectRotated(t, c, k, operator, firstPassword)
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	expectNoChildren(t, c, k.Namespace)
	if secrets.Stored(passwordPath(k.Namespace))["password"] != firstPassword {
		t.Error("the password is gone from the store")
	}
}
