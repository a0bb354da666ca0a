//go:build integration

package controller_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

// keySecret is a Secret with a key of that many characters under the entry.
func keySecret(namespace, name, entry string, length int) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{entry: strings.Repeat("k", length)},
	}
}

func TestALostSecretKeyIsReportedAndNotReplaced(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, horizons, &world)
	i.Create()
	i.Ready()
	namespace := i.Resource.GetNamespace()
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretKeyName}}
	expect.Exists(t, world.Admin, key)
	before := key.Data
	if got := len(before[horizonv1alpha1.SecretKeyEntry]); got < horizonv1alpha1.MinSecretKey {
		t.Errorf("the key has %d characters", got)
	}
	objects.Delete(t, world.Admin, key.DeepCopy())
	i.Fails(horizonv1alpha1.ConditionSecretKeyReady, horizonv1alpha1.ReasonSecretKeyMissing, secretKeyName, "restore it", "ends all sessions")
	gone := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretKeyName}}
	expect.Gone(t, world.Admin, gone)
	// A restored Secret may have lost the operator's labels.
	restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretKeyName}, Data: before}
	objects.Create(t, world.Admin, restored)
	i.Ready()
	expect.Exists(t, world.Admin, restored)
	if got := string(restored.Data[horizonv1alpha1.SecretKeyEntry]); got != string(before[horizonv1alpha1.SecretKeyEntry]) {
		t.Error("the key differs from the one that was restored")
	}
	objects.Delete(t, world.Admin, client.Object(i.Resource.DeepCopy()))
	expect.Gone(t, world.Admin, restored)
}

func TestAGivenSecretKeyIsAwaitedAndHasToBeLong(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, horizons, &world)
	namespace := i.Resource.GetNamespace()
	i.Resource.Spec.SecretKeyRef = &commonv1.SecretRefSpec{Name: "mine", Key: "cookie"}
	i.Create()
	const failing = horizonv1alpha1.ConditionSecretKeyReady
	i.Fails(failing, horizonv1alpha1.ReasonWaitingForSecretKey, "Secret mine of spec.secretKeyRef does not exist", "cookie")
	given := keySecret(namespace, "mine", "cookie", 49)
	objects.Create(t, world.Admin, given)
	i.Fails(failing, horizonv1alpha1.ReasonSecretKeyInvalid, "cookie in Secret mine has 49 characters", "at least 50")
	objects.Change(t, world.Admin, given, func(s *corev1.Secret) { s.StringData = keySecret("", "", "cookie", 50).StringData })
	i.Ready()
	expect.Gone(t, world.Admin, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretKeyName}})
	objects.Delete(t, world.Admin, client.Object(i.Resource.DeepCopy()))
	expect.Gone(t, world.Admin, client.Object(i.Resource.DeepCopy()))
	expect.Exists(t, world.Admin, given)
}

func TestAHorizonHibernatesOnceItsJobHasEnded(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, horizons, &world)
	i.Resource.Spec.Settings = map[string]apiextensionsv1.JSON{"TIME_ZONE": {Raw: []byte(`"Europe/Berlin"`)}}
	check := i.Resource.GetName() + "-config-check"
	world.Jobs.Set(i.Resource.GetNamespace(), check, standin.Hang())
	i.Create()
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigCheckInProgress, check)
	objects.Change(t, world.Admin, i.Resource, func(h *horizonv1alpha1.Horizon) { h.Spec.Hibernation = new(true) })
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernating, "Job "+check+" has not ended")
	world.Jobs.Set(i.Resource.GetNamespace(), check, standin.Succeed())
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernated)
}

func TestSettingsAreReadByTheImageBeforePodsGetThem(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, horizons, &world)
	namespace := i.Resource.GetNamespace()
	i.Resource.Spec.Settings = map[string]apiextensionsv1.JSON{"TIME_ZONE": {Raw: []byte(`"Nowhere"`)}}
	check := i.Resource.GetName() + "-config-check"
	world.Jobs.Set(namespace, check, standin.Hang())
	i.Create()
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigCheckInProgress, check)
	world.Jobs.Set(namespace, check, standin.Fail("Horizon does not start with these settings: ValueError"))
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigError, "spec.settings", "ValueError")
	world.Jobs.Set(namespace, check, standin.Succeed())
	objects.Change(t, world.Admin, i.Resource, func(h *horizonv1alpha1.Horizon) {
		h.Spec.Settings = map[string]apiextensionsv1.JSON{"TIME_ZONE": {Raw: []byte(`"Europe/Berlin"`)}}
	})
	i.Ready()
}
