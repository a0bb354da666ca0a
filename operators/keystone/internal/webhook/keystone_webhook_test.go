package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func admitting(reader client.Reader) *admission.Webhook[*keystonev1alpha1.Keystone] {
	webhook := NewKeystoneWebhook(cluster.Settings{})
	webhook.Reader = reader
	return webhook
}

// storing is an API server with these objects.
func storing(t testing.TB, objects ...client.Object) client.WithWatch {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(apitest.Scheme(t, keystonev1alpha1.AddToScheme)).WithObjects(objects...).Build()
}

// withoutPriorityClasses is an API server from which no PriorityClass can be read.
func withoutPriorityClasses(t testing.TB) client.Reader {
	t.Helper()
	return interceptor.NewClient(storing(t), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("connection refused")
		},
	})
}

func TestAllValidationErrorsAreReportedTogether(t *testing.T) {
	k := fixture.Minimal()
	k.Spec.Replicas = -1
	k.Spec.Fernet.MaxActiveKeys = 1
	k.Spec.PriorityClassName = new("missing")
	_, err := admitting(storing(t)).ValidateCreate(t.Context(), k)
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("want Invalid, got %v", err)
	}
	details := status.Status().Details
	if details.Group != "keystone.openstack.c5c3.io" || details.Kind != "Keystone" || details.Name != "keystone" || len(details.Causes) != 3 {
		t.Errorf("got %+v", details)
	}
}

func TestThePriorityClassMustExist(t *testing.T) {
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}}
	for _, c := range []struct {
		name   string
		class  *string
		reader client.Reader
		want   string
	}{
		{"none", nil, withoutPriorityClasses(t), ""},
		{"an empty one", new(""), withoutPriorityClasses(t), ""},
		{"an existing one", new("high"), storing(t, class), ""},
		{"a missing one", new("low"), storing(t, class), `spec.priorityClassName: Not found: "low"`},
		{"one that cannot be read", new("high"), withoutPriorityClasses(t), "spec.priorityClassName: Internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := fixture.Minimal()
			k.Spec.PriorityClassName = c.class
			_, err := admitting(c.reader).ValidateCreate(t.Context(), k)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

func TestAnUpdateWithoutASpecChangeIsNotValidated(t *testing.T) {
	stored := fixture.Minimal()
	stored.Spec.Fernet.RotationSchedule = "was valid once"
	labelled := stored.DeepCopy()
	// It was stored without the webhook.
	stored.Spec.Replicas, stored.Spec.Logging, stored.Spec.TrustFlush = 0, nil, nil
	labelled.Labels = map[string]string{"a": "b"}
	webhook := admitting(withoutPriorityClasses(t))
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); err != nil {
		t.Errorf("a label is refused: %v", err)
	}
	labelled.Spec.Replicas++
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); !apierrors.IsInvalid(err) {
		t.Errorf("want Invalid for a changed spec, got %v", err)
	}
}

func TestAnObjectBeingDeletedIsNotChecked(t *testing.T) {
	stored := fixture.Minimal()
	deleted := stored.DeepCopy()
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	deleted.Spec.Database.Database = "other"
	deleted.Spec.PriorityClassName = new("gone")
	if _, err := admitting(withoutPriorityClasses(t)).ValidateUpdate(t.Context(), stored, deleted); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestTooFewFernetKeysAreAWarning(t *testing.T) {
	for _, c := range []struct {
		name         string
		rotation     string
		keys         int32
		token        map[string]string
		wantAtLeast  string
		wantNoAdvice bool
	}{
		{name: "the defaults", rotation: "0 0 * * 0", keys: 3, wantNoAdvice: true},
		{name: "daily with the default keys", rotation: "0 0 * * *", keys: 3, wantAtLeast: "at least 5"},
		{name: "daily with enough keys", rotation: "0 0 * * *", keys: 5, wantNoAdvice: true},
		{name: "hourly", rotation: "0 * * * *", keys: 50, wantAtLeast: "at least 51"},
		{
			name: "longer tokens", rotation: "0 0 * * *", keys: 5,
			token: map[string]string{"expiration": "86400"}, wantNoAdvice: true,
		},
		{
			name: "tokens that live a week", rotation: "0 0 * * *", keys: 5,
			token: map[string]string{"expiration": "604800"}, wantAtLeast: "at least 11",
		},
		{
			name: "no use of expired tokens", rotation: "0 * * * *", keys: 3,
			token: map[string]string{"allow_expired_window": "0"}, wantNoAdvice: true,
		},
		{
			name: "a lifetime that is no number", rotation: "0 * * * *", keys: 3,
			token: map[string]string{"expiration": "an hour"}, wantNoAdvice: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := fixture.Minimal()
			k.Spec.Fernet = keystonev1alpha1.FernetSpec{RotationSchedule: c.rotation, MaxActiveKeys: c.keys}
			k.Spec.ExtraConfig = map[string]map[string]string{"token": c.token}
			warnings, err := admitting(withoutPriorityClasses(t)).ValidateCreate(t.Context(), k)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			text := strings.Join(warnings, "\n")
			if c.wantNoAdvice != (text == "") || !strings.Contains(text, c.wantAtLeast) {
				t.Errorf("want %q, got %q", c.wantAtLeast, text)
			}
		})
	}
}

func TestANetworkPolicyWithoutGatewayProxiesIsWarnedAbout(t *testing.T) {
	const advice = "if the proxies of the Gateway run in another namespace, add that namespace to spec.networkPolicy.ingress"
	type source = commonv1.NetworkPolicyIngressSource
	from := func(labels ...string) source {
		selector := map[string]string{}
		for _, namespace := range labels {
			selector["kubernetes.io/metadata.name"] = namespace
		}
		return source{NamespaceSelector: selector}
	}
	proxies := from("gateways")
	proxies.PodSelector = map[string]string{"app": "proxy"}
	for name, c := range map[string]struct {
		gateway string
		ingress []source
		warned  bool
	}{
		"the Gateway's namespace":                     {"gateways", []source{from("gateways")}, true},
		"the Gateway's namespace, by default its own": {"", []source{from("openstack")}, true},
		"some of its pods":                            {"gateways", []source{proxies}, true},
		"that and another one":                        {"gateways", []source{from("gateways"), from("proxies")}, false},
		"another one":                                 {"gateways", []source{from("proxies")}, false},
		"all namespaces":                              {"gateways", []source{from()}, false},
		"no NetworkPolicy":                            {"gateways", nil, false},
		"no Gateway":                                  {"none", []source{from("openstack")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := fixture.Minimal()
			k.Namespace = "openstack"
			if c.gateway != "none" {
				k.Spec.Gateway = &commonv1.GatewaySpec{
					ParentRef: commonv1.GatewayParentRefSpec{Name: "public", Namespace: c.gateway}, Hostname: "keystone.example.com", Path: "/",
				}
			}
			if c.ingress != nil {
				k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{Ingress: c.ingress}
			}
			warnings, err := admitting(withoutPriorityClasses(t)).ValidateCreate(t.Context(), k)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if text := strings.Join(warnings, "\n"); strings.Contains(text, advice) != c.warned {
				t.Errorf("got %q", text)
			}
		})
	}
}

func TestAdmissionComparesDatabaseHostsWithTheClusterDomain(t *testing.T) {
	older, younger := fixture.Minimal(), fixture.Minimal()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.1"
	older.Spec.Database.Host = "mariadb.databases"
	younger.Namespace = "openstack"
	younger.Spec.Database.Host = "mariadb.databases.svc.k8s.example.com"
	hook := NewKeystoneWebhook(cluster.Settings{Domain: "k8s.example.com"})
	hook.Reader = storing(t, older)
	_, err := hook.ValidateCreate(t.Context(), younger)
	if err == nil || !strings.Contains(err.Error(), "Keystone older of namespace other has the database") {
		t.Errorf("the same database by its full name: %v", err)
	}
}
