package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/operator/servingcert"
)

func TestOnlyOwnSecretsAndConfigMapsAreCached(t *testing.T) {
	options := cacheOptions(Options{Name: "keystone-operator"}, &settings{})
	kinds := map[string]bool{}
	for object, selection := range options.ByObject {
		switch object.(type) {
		case *corev1.Secret:
			kinds["Secret"] = true
		case *corev1.ConfigMap:
			kinds["ConfigMap"] = true
		}
		own := labels.Set{"app.kubernetes.io/managed-by": "keystone-operator"}
		if !selection.Label.Matches(own) {
			t.Errorf("%T: an own object is not cached", object)
		}
		if selection.Label.Matches(labels.Set{"app.kubernetes.io/managed-by": "Helm"}) || selection.Label.Matches(labels.Set{}) {
			t.Errorf("%T: a foreign object is cached", object)
		}
		if selection.Transform != nil {
			t.Errorf("%T: objects are changed on their way into the cache, want their managed fields kept", object)
		}
	}
	if diff := cmp.Diff(map[string]bool{"Secret": true, "ConfigMap": true}, kinds); diff != "" {
		t.Errorf("limited kinds (-want +got):\n%s", diff)
	}
}

func TestANamespacedOperatorWatchesItsNamespaceWithItsOwnLease(t *testing.T) {
	s := &settings{}
	s.Namespace = "team-a"
	options := managerOptions(Options{Name: "keystone-operator", LeaderElectionID: "keystone.openstack.c5c3.io"}, s, &servingCertificate{})
	if _, only := options.Cache.DefaultNamespaces["team-a"]; !only || len(options.Cache.DefaultNamespaces) != 1 {
		t.Errorf("watches %v, want team-a only", options.Cache.DefaultNamespaces)
	}
	for object, selection := range options.Cache.ByObject {
		if selection.Namespaces != nil {
			t.Errorf("%T is watched in %v, want the default, team-a", object, selection.Namespaces)
		}
	}
	if got := options.LeaderElectionID; got != "keystone.openstack.c5c3.io-team-a" {
		t.Errorf("Lease %q, want one that a cluster-wide operator does not use", got)
	}
}

func TestAClusterWideOperatorLeavesOutIgnoredNamespaces(t *testing.T) {
	s, err := parse([]string{"--ignore-namespaces=team-a,team-b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	selector := cacheOptions(Options{Name: "keystone-operator"}, s).DefaultNamespaces[cache.AllNamespaces].FieldSelector
	if selector == nil {
		t.Fatal("every namespace is watched")
	}
	for namespace, want := range map[string]bool{"team-a": false, "team-b": false, "team-c": true} {
		if got := selector.Matches(fields.Set{"metadata.namespace": namespace}); got != want {
			t.Errorf("namespace %s is watched: %t, want %t", namespace, got, want)
		}
	}
}

func TestPodsThatHaveSucceededAreNotCached(t *testing.T) {
	for name, args := range map[string][]string{
		"all namespaces": nil, "one namespace": {"--namespace=team-c"}, "all but some": {"--ignore-namespaces=team-a"},
	} {
		s, err := parse(append(args, "--enable-webhooks=false"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for object, selection := range cacheOptions(Options{Name: "keystone-operator"}, s).ByObject {
			selector := selection.Field
			if config, apart := selection.Namespaces[cache.AllNamespaces]; apart {
				selector = config.FieldSelector
			}
			_, pods := object.(*corev1.Pod)
			if !pods && selector != nil {
				t.Errorf("%s: of %T only some are cached: %s", name, object, selector)
			}
			if !pods {
				continue
			}
			for phase, want := range map[string]bool{"Pending": true, "Running": true, "Failed": true, "Succeeded": false} {
				pod := fields.Set{"metadata.namespace": "team-c", "status.phase": phase}
				if got := selector == nil || selector.Matches(pod); got != want {
					t.Errorf("%s: a Pod that is %s is cached: %t, want %t", name, phase, got, want)
				}
			}
			running := fields.Set{"metadata.namespace": "team-a", "status.phase": "Running"}
			if len(s.ignoredNamespaces) > 0 && selector != nil && selector.Matches(running) {
				t.Errorf("%s: a Pod of a namespace that is left out is cached", name)
			}
		}
	}
}

func TestAClusterWideOperatorUsesTheDocumentedLease(t *testing.T) {
	if got := leaderElectionID("keystone.openstack.c5c3.io", ""); got != "keystone.openstack.c5c3.io" {
		t.Errorf("Lease %q", got)
	}
}

func TestRequestsAreNotRateLimitedUnlessTheCallerSaysSo(t *testing.T) {
	cases := map[string]struct{ given, want float32 }{
		"nothing said": {0, -1},
		"chosen":       {50, 50},
		"off":          {-1, -1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			given := &rest.Config{QPS: c.given}
			if got := withoutRateLimit(given).QPS; got != c.want {
				t.Errorf("%v requests a second, want %v", got, c.want)
			}
			if given.QPS != c.given {
				t.Error("the caller's configuration was changed")
			}
		})
	}
}

func TestNoServerSpeaksHTTP2(t *testing.T) {
	s := &settings{webhookCertSource: certSourceSelfManaged}
	metrics := metricsOptions(s).TLSOpts
	webhook := append((&servingCertificate{}).tlsOptions(s), withoutHTTP2)
	for name, options := range map[string][]func(*tls.Config){"metrics": metrics, "webhook": webhook} {
		config := &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
		for _, option := range options {
			option(config)
		}
		if diff := cmp.Diff([]string{"http/1.1"}, config.NextProtos); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSecureMetricsAreServedToAuthorizedClientsOnly(t *testing.T) {
	if open := metricsOptions(&settings{metricsAddress: ":8080"}); open.SecureServing || open.FilterProvider != nil {
		t.Error("metrics are protected by default, want plain HTTP")
	}
	if secure := metricsOptions(&settings{metricsSecure: true}); !secure.SecureServing || secure.FilterProvider == nil {
		t.Error("--metrics-secure serves without TLS or without a check of the client")
	}
}

func TestTheCertRotatorUsesTheNamesOfTheChart(t *testing.T) {
	s := &settings{webhookService: "identity", webhookCertValidity: time.Hour}
	s.OperatorNamespace, s.Cluster.Domain = "keystone-system", "k8s.example.com"
	want := servingcert.Options{
		Namespace:      "keystone-system",
		SecretName:     "identity-webhook-cert",
		ServiceName:    "identity",
		MutatingName:   "identity-mutating",
		ValidatingName: "identity-validating",
		Labels: map[string]string{
			"app.kubernetes.io/name":       "keystone-operator",
			"app.kubernetes.io/instance":   "identity",
			"app.kubernetes.io/component":  "webhook",
			"app.kubernetes.io/managed-by": "keystone-operator",
		},
		Validity: time.Hour,
		Settle:   servingcert.DefaultSettle,
		Cluster:  cluster.Settings{Domain: "k8s.example.com"},
	}
	if diff := cmp.Diff(want, rotatorOptions("keystone-operator", s)); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestATLSHandshakeBeforeTheRotatorExistsFails(t *testing.T) {
	if _, err := (&servingCertificate{}).get(nil); !errors.Is(err, errNoRotator) {
		t.Errorf("error = %v, want %v", err, errNoRotator)
	}
}

// heldCache is a cache that syncs when the test says so.
type heldCache struct {
	informertest.FakeInformers
	filled bool
}

func (c *heldCache) WaitForCacheSync(ctx context.Context) bool {
	if !c.filled {
		<-ctx.Done()
	}
	return c.filled
}

var _ cache.Cache = &heldCache{}

func TestReadinessWaitsForTheCachesOnlyAtStartup(t *testing.T) {
	held := &heldCache{}
	check := &cacheCheck{cache: held}
	assertCheck(t, check, "before the controllers start", "not started yet")
	if err := check.Warmup(t.Context()); err != nil {
		t.Fatal(err)
	}
	assertCheck(t, check, "while the caches fill", "not filled yet")
	held.filled = true
	assertCheck(t, check, "with filled caches", "")
	held.filled = false
	assertCheck(t, check, "while a later cache fills", "")
}

func assertCheck(t *testing.T, check *cacheCheck, when, want string) {
	t.Helper()
	err := check.check(httptest.NewRequest(http.MethodGet, "/readyz", nil))
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: not ready: %v", when, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: error = %v, want one with %q", when, err, want)
	}
}
