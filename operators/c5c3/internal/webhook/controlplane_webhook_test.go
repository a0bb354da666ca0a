package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/admission"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func cluster(t testing.TB, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := c5c3v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// unreachable is an API server that answers nothing.
func unreachable(t testing.TB) client.Reader {
	t.Helper()
	return interceptor.NewClient(cluster(t), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("connection refused")
		},
	})
}

func admitting(reader client.Reader) *admission.Webhook[*c5c3v1alpha1.ControlPlane] {
	webhook := NewControlPlaneWebhook()
	webhook.Reader = reader
	return webhook
}

func TestAllValidationErrorsAreReportedTogether(t *testing.T) {
	cp := fixture.Minimal()
	cp.Spec.OpenStackRelease = "latest"
	cp.Spec.Services.Keystone.Replicas = new(int32(0))
	present := fixture.Minimal()
	present.Name = "first"
	_, err := admitting(cluster(t, present)).ValidateCreate(t.Context(), cp)
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("want Invalid, got %v", err)
	}
	details := status.Status().Details
	if details.Group != "c5c3.io" || details.Kind != "ControlPlane" || details.Name != "controlplane" || len(details.Causes) != 3 {
		t.Errorf("got %+v", details)
	}
}

func TestASecondControlPlaneInANamespaceIsRefused(t *testing.T) {
	elsewhere := fixture.Minimal()
	elsewhere.Name, elsewhere.Namespace = "first", "elsewhere"
	here := fixture.Minimal()
	here.Name = "first"
	for _, c := range []struct {
		name   string
		reader client.Reader
		want   string
	}{
		{"none", cluster(t), ""},
		{"one in another namespace", cluster(t, elsewhere), ""},
		{"one here", cluster(t, here), `metadata.namespace: Forbidden: namespace "openstack" already has the ControlPlane "first"`},
		{"the list fails", unreachable(t), "metadata.namespace: Internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := admitting(c.reader).ValidateCreate(t.Context(), fixture.Minimal())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

func TestAnUpdateWithoutASpecChangeIsNotValidated(t *testing.T) {
	stored := fixture.Minimal()
	stored.Spec.OpenStackRelease = "was valid once"
	labelled := stored.DeepCopy()
	// It was stored without the webhook.
	stored.Spec.Region, stored.Spec.Infrastructure, stored.Spec.KORC = "", c5c3v1alpha1.InfrastructureSpec{}, c5c3v1alpha1.KORCSpec{}
	labelled.Labels = map[string]string{"a": "b"}
	webhook := admitting(unreachable(t))
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); err != nil {
		t.Errorf("a label is refused: %v", err)
	}
	labelled.Spec.Services.Keystone.Replicas = new(int32(1))
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); !apierrors.IsInvalid(err) {
		t.Errorf("want Invalid for a changed spec, got %v", err)
	}
}

func TestAnObjectBeingDeletedIsNotChecked(t *testing.T) {
	stored := fixture.Minimal()
	deleted := stored.DeepCopy()
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	deleted.Spec.Region = "other"
	if _, err := admitting(unreachable(t)).ValidateUpdate(t.Context(), stored, deleted); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestARotationIntervalThatNeedsMoreFernetKeysIsWarnedAbout(t *testing.T) {
	for interval, want := range map[time.Duration]string{
		24 * time.Hour:  "spec.fernet.maxActiveKeys of at least 5 on Keystone controlplane-keystone",
		48 * time.Hour:  "at least 4",
		72 * time.Hour:  "",
		168 * time.Hour: "",
	} {
		cp := fixture.Minimal()
		cp.Spec.Services.Keystone.RotationInterval = &metav1.Duration{Duration: interval}
		warnings, err := admitting(cluster(t)).ValidateCreate(t.Context(), cp)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(warnings, "\n"); (text == "") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%s: want %q, got %q", interval, want, text)
		}
	}
}

func TestGlobalOptionsThatAreSecretOrHaveNoEffectAreWarnedAbout(t *testing.T) {
	for name, c := range map[string]struct{ section, option, value, want string }{
		"no problem":        {"DEFAULT", "debug", "true", ""},
		"a secret":          {"oslo_messaging_notifications", "transport_url", "rabbit://user:pass@rabbit", "extraConfigSecretRef"},
		"the connection":    {"Database", "connection", "mysql://user:pass@db", "has no effect"},
		"lifetime of a day": {"token", "expiration", "86400", ""},
		"of a month":        {"token", "expiration", "2592000", "spec.fernet.maxActiveKeys of at least 7 on Keystone controlplane-keystone"},
	} {
		cp := fixture.Minimal()
		cp.Spec.Global = &c5c3v1alpha1.GlobalSpec{ExtraConfig: map[string]map[string]string{c.section: {c.option: c.value}}}
		warnings, err := admitting(cluster(t)).ValidateCreate(t.Context(), cp)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(warnings, "\n")
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) || strings.Contains(text, "user:pass") {
			t.Errorf("%s: want %q, got %q", name, c.want, text)
		}
	}
}

func TestWarningsOfIdentityBackendsNameTheirFields(t *testing.T) {
	cp := fixture.Minimal()
	first, second := fixture.Directory("staff"), fixture.Directory("students")
	second.LDAP.URLs, second.LDAP.TLS = []string{"ldap://ldap.example.com"}, nil
	cp.Spec.Services.Keystone.IdentityBackends = []c5c3v1alpha1.ServiceKeystoneIdentityBackendSpec{first, second}
	warnings, err := admitting(cluster(t)).ValidateCreate(t.Context(), cp)
	const want = "spec.services.keystone.identityBackends[1].ldap.tls is not set"
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want) {
		t.Errorf("got %q (%v), want %q", warnings, err, want)
	}
}

func TestAServiceAheadOfItsKeystoneIsAWarning(t *testing.T) {
	for name, c := range map[string]struct {
		keystone, placement, barbican, glance, want string
	}{
		"one release":               {"", "", "", "", ""},
		"Keystone ahead":            {"2026.1", "", "", "", ""},
		"another build":             {"2025.2", "2025.2-p1", "", "", ""},
		"Placement ahead":           {"", "2026.1", "", "", "Placement gets release 2026.1 while Keystone has 2025.2"},
		"Keystone behind Placement": {"2025.1", "", "", "", "Placement gets release 2025.2 while Keystone has 2025.1"},
		"a tag that is no release":  {"", "latest", "", "", ""},
		"Barbican ahead":            {"", "", "2026.1", "", "Barbican gets release 2026.1 while Keystone has 2025.2"},
		"Glance ahead":              {"", "", "", "2026.1", "Glance gets release 2026.1 while Keystone has 2025.2"},
	} {
		cp := fixture.Minimal()
		cp.Spec.OpenStackRelease = "2025.2"
		cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
		if c.keystone != "" {
			cp.Spec.Services.Keystone.Image = &commonv1.ImageSpec{Repository: "k", Tag: c.keystone}
		}
		if c.placement != "" {
			cp.Spec.Services.Placement.Image = &commonv1.ImageSpec{Repository: "p", Tag: c.placement}
		}
		if c.barbican != "" {
			cp.Spec.Services.Barbican = &c5c3v1alpha1.ServiceBarbicanSpec{}
			cp.Spec.Services.Barbican.Image = &commonv1.ImageSpec{Repository: "b", Tag: c.barbican}
		}
		if c.glance != "" {
			cp.Spec.Services.Glance = &c5c3v1alpha1.ServiceGlanceSpec{}
			cp.Spec.Services.Glance.Image = &commonv1.ImageSpec{Repository: "g", Tag: c.glance}
		}
		if got := strings.Join(orderWarnings(cp), ""); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
