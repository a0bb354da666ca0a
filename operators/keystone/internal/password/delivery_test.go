package password

import (
	"bytes"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/rotation"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestAPasswordIsHeldUntilKeystoneCanBeBootstrapped(t *testing.T) {
	for _, tc := range []struct {
		name                               string
		arrived, delivered, boot, heldBack bool
	}{
		{name: "made while Keystone cannot be bootstrapped", heldBack: true},
		{name: "made while Keystone can be", boot: true},
		{name: "copied by hand meanwhile", arrived: true},
		{name: "replaced by hand after the delivery", delivered: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := fixture.Rotating()
			s := fixture.Scope(k)
			if tc.boot {
				pass.BootstrapJob.Put(s.Slots, &batchv1.Job{})
			}
			made := time.Now().UTC().Format(time.RFC3339)
			next := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{rotation.CompletedAtAnnotation: made}},
				Data:       map[string][]byte{"password": []byte("next")},
			}
			d := &delivery{Scope: s, next: next, target: &corev1.Secret{Data: map[string][]byte{}}}
			d.target.Data[d.targetKey()] = []byte("previous")
			if tc.arrived {
				d.target.Data[d.targetKey()] = bytes.Clone(d.password())
			}
			if tc.delivered {
				next.Annotations[annotationDelivered] = made
			}
			if got := d.heldBack(); got != tc.heldBack {
				t.Errorf("held back: %t, want %t", got, tc.heldBack)
			}
		})
	}
}

func TestALongHeldPasswordIsReported(t *testing.T) {
	k := fixture.Rotating()
	s := fixture.Scope(k)
	made := time.Now().Add(-2 * deliveryTimeout).UTC().Format(time.RFC3339)
	next := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{rotation.CompletedAtAnnotation: made}}}
	_, err := (&delivery{Scope: s, next: next}).inTransit(notBootstrappable)
	if err == nil || !strings.Contains(err.Error(), "DatabaseReady") {
		t.Errorf("got %v, want an error that leads to the database", err)
	}
}
