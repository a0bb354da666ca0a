//go:build integration

package controller_test

import (
	"net/http"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// reach remembers what the operator asks for, watches among it, and what it is
// refused.
type reach struct {
	mu               sync.Mutex
	outside, refused map[string]bool
}

func (r *reach) config(cfg *rest.Config, namespace string) *rest.Config {
	r.outside, r.refused = map[string]bool{}, map[string]bool{}
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			request := transport.Parse(req)
			resp, err := next.RoundTrip(req)
			r.mu.Lock()
			defer r.mu.Unlock()
			if request.Resource != "" && request.Namespace != namespace {
				r.outside[request.String()] = true
			}
			if resp != nil && (resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized) {
				r.refused[request.String()] = true
			}
			return resp, err
		})
	})
	return cfg
}

func TestARoleIsEnoughForAKeystoneThatUsesEverything(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, withCluster)
	cfg, err := env.NamespacedUser(t.Context(), namespace, "operator-of-"+namespace, rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	asked := &reach{}
	operator := testutil.Start(t, asked.config(cfg, namespace), namespace)
	k := testutil.Managed(namespace, testutil.Name)
	k.Spec.PriorityClassName = new("system-cluster-critical")
	k.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	k.Spec.NetworkPolicy = &keystonev1alpha1.NetworkPolicySpec{
		Ingress: []keystonev1alpha1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{}}},
	}
	k.Spec.Autoscaling = &keystonev1alpha1.AutoscalingSpec{MaxReplicas: 3, TargetCPUUtilization: new(int32(80))}
	objects.Create(t, c, k)
	ready(t, c, k)
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	operator.Stop()

	for request := range asked.outside {
		t.Errorf("asked outside its namespace: %s", request)
	}
	for request := range asked.refused {
		t.Errorf("was refused: %s", request)
	}
}
