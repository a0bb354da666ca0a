package appcredential

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestACredentialIsReplacedForAPasswordChangeOrARequest(t *testing.T) {
	const (
		hash    = c5c3v1alpha1.AnnotationAdminPasswordHash
		request = c5c3v1alpha1.AnnotationRotationRequest
	)
	current, old := controlplane.Hash("password"), controlplane.Hash("another")
	answered := map[string]string{request: "uid/1"}
	for name, c := range map[string]struct {
		live, secret map[string]string
		manual       bool
		want         string
	}{
		"made with the password of now":    {map[string]string{hash: current}, nil, false, ""},
		"not stamped":                      {nil, nil, false, ""},
		"made with another password":       {map[string]string{hash: old}, nil, false, "password has changed"},
		"the same, on request only":        {map[string]string{hash: old}, nil, true, ""},
		"by hand":                          {map[string]string{hash: ""}, nil, true, "requested"},
		"requested":                        {map[string]string{hash: "", request: "uid/1"}, nil, true, "requested"},
		"answers a request":                {map[string]string{hash: current, request: "uid/1"}, answered, true, ""},
		"requested, the mark overwritten":  {map[string]string{hash: current, request: "uid/1"}, nil, true, "requested"},
		"so for the second time":           {map[string]string{hash: current, request: "uid/2"}, answered, true, "requested"},
		"that lost the name of a request":  {map[string]string{hash: current}, answered, true, ""},
		"answers a request, password then": {map[string]string{hash: old, request: "uid/1"}, answered, false, "password has changed"},
	} {
		cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "controlplane"}}
		c5c3v1alpha1.SetDefaults(cp)
		if c.manual {
			cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode = c5c3v1alpha1.RotationManual
		}
		application := &creation{secret: &secret{
			Pass:          pass.New(&pass.Tools{Proofs: identity.NewProofs(nil, func(string) time.Time { return fixture.Noon }, 0, 0)}, cp),
			adminPassword: "password", object: &corev1.Secret{},
		}}
		application.secret.object.Annotations = c.secret
		live := applicationCredential(cp, "name", maps.Clone(c.live))
		live.Status.ID = ptr.To("id")
		if got := application.whyReplace(live); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: replaced because %q, expected %q", name, got, c.want)
		}
	}
}

// A pass may be so late that Keystone has rejected the credential for a long time.
func TestARejectedCredentialIsReplacedOnlyAfterItIsReported(t *testing.T) {
	const retry = time.Second
	for name, c := range map[string]struct {
		announced string
		want      string
	}{
		"not reported":                    {"", ""},
		"reported for another credential": {"other", ""},
		"reported for this credential":    {"id", "Keystone refuses"},
	} {
		of := fixture.ControlPlane
		cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}}
		c5c3v1alpha1.SetDefaults(cp)
		cp.Status.Conditions = []metav1.Condition{{
			Type: c5c3v1alpha1.ConditionAdminCredentialReady, Status: metav1.ConditionFalse,
			LastTransitionTime: metav1.NewTime(fixture.Noon.Add(-time.Hour)),
		}}
		now := fixture.Noon.Add(-time.Hour)
		refusing := func(context.Context, string, string, string) (ask.Verdict, error) { return ask.Rejected, nil }
		application := &creation{secret: &secret{
			Pass: pass.New(&pass.Tools{
				Proofs:      identity.NewProofs(refusing, func(string) time.Time { return now }, time.Minute, time.Second),
				Access:      kube.Access{Clock: func() time.Time { return now }},
				RetryPeriod: retry,
			}, cp),
			object: &corev1.Secret{Data: map[string][]byte{keyValue: []byte("secret")}},
		}}
		for _, id := range []string{"id", "other"} {
			_, _ = application.Proofs.Verdict(application.NamespacedName, "url", id, "secret", false)
		}
		fixture.Answer(t.Context(), application.Proofs.Ledger)
		application.Proofs.Announce(application.NamespacedName, c.announced, "secret")
		now = fixture.Noon
		live := applicationCredential(cp, "name", nil)
		live.Status.ID = ptr.To("id")
		live.CreationTimestamp = metav1.NewTime(fixture.Noon.Add(-time.Hour))
		if got := application.whyReplace(live); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: replaced because %q, expected %q", name, got, c.want)
		}
	}
}
