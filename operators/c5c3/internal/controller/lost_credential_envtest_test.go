//go:build integration

package controller_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestADeletedCredentialSecretLeadsToAReplacement(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	objects.Delete(t, w, &corev1.Secret{ObjectMeta: w.meta(mainCredential)})
	w.replacedAfter(t, old)
}

// The operator watches the names of all Secrets and, in another cache, the content
// of its own. While the one is held, whoever reads a Secret it has written waits: not
// beside other tests.
func TestADeletedCredentialSecretIsNoticedDespiteAStaleCache(t *testing.T) {
	w := converged(t)
	old, passes := w.cp.Status.AdminApplicationCredential.ID, log.passesOver("controlplane", w.cp)
	release := holds.Hold(func(watch *http.Request) bool {
		return transport.Parse(watch).Resource == "secrets" && !strings.Contains(watch.Header.Get("Accept"), "PartialObjectMetadata")
	})
	t.Cleanup(release)
	objects.Delete(t, w, &corev1.Secret{ObjectMeta: w.meta(mainCredential)})
	expect.Eventually(t, "a pass that still finds the Secret", func(context.Context) error {
		if log.passesOver("controlplane", w.cp) == passes {
			return errors.New("there was none")
		}
		return nil
	})
	release()
	w.replacedAfter(t, old)
}

// Without an object that keeps it nobody would revoke the replaced credential.
func TestACredentialIsNotHandedOverToAnObjectThatOnlyTheCacheHas(t *testing.T) {
	w := converged(t, manual)
	old, retained := w.cp.Status.AdminApplicationCredential.ID, w.retained(t)
	changes := w.follow(t)
	lift := w.refuse(t, "patch", "applicationcredentials", mainCredential)
	w.askForAnother(t)
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ApplicationCredentialError", mainCredential)
	release := holds.Hold(func(watch *http.Request) bool { return transport.Parse(watch).Resource == "applicationcredentials" })
	t.Cleanup(release)
	objects.Change(t, w, retained, func(c *orcv1alpha1.ApplicationCredential) {
		c.Spec.ManagedOptions = &orcv1alpha1.ManagedOptions{OnDelete: orcv1alpha1.OnDeleteDetach}
	})
	objects.Delete(t, w, retained)
	expect.Gone(t, w, retained)
	passes := log.passesOver("controlplane", w.cp)
	lift()
	expect.Eventually(t, "passes that find the object in the cache", func(context.Context) error {
		if log.passesOver("controlplane", w.cp) < passes+2 {
			return errors.New("there were fewer than two")
		}
		return nil
	})
	release()
	w.replacedAfter(t, old)
}

func TestALaterRequestDoesNotShortenTheGracePeriod(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained.Name, standin.Hang())
	first := w.request(t, "first", longGrace)
	w.expectRotation(t, first, metav1.ConditionTrue, "RotationTriggered")
	expect.Exists(t, w, retained)
	second := w.request(t, "second", 0)
	w.expectRotation(t, second, metav1.ConditionTrue, "RotationTriggered")
	korc.Set("ApplicationCredential", w.cp.Namespace, retained.Name, standin.Succeed())
	w.replaced(t, old)
	expect.Object(t, w, retained, func() error {
		if got := retained.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap]; got != (longGrace * day).String() {
			return errors.New("it works on for " + got)
		}
		return nil
	})
	w.endGrace(t, retained)
	w.expectCredentials(t, 1)
}
