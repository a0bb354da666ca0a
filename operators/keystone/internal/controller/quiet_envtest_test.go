//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// pass triggers a pass over the Keystone by a change of its connection Secret that does
// not matter to the operator, and returns the requests of that pass. Discovery is left
// out, and so are events: they are written asynchronously, so those of an earlier pass
// may come late.
func pass(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator) transport.Requests {
	t.Helper()
	before := operator.Requests.Snapshot()
	connection := secret(k.Namespace, k.Name+"-db-connection", nil)
	objects.Change(t, c, connection, func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "example.com/touched", s.ResourceVersion)
	})
	operator.Passed(t, client.ObjectKeyFromObject(k), connection)
	return operator.Requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
}

// settle triggers passes until one makes no request, when everything in progress at the
// time the Keystone became ready has finished.
func settle(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator) {
	t.Helper()
	expect.Eventually(t, "a pass without a request", func(context.Context) error {
		if requests := pass(t, c, k, operator); len(requests) > 0 {
			return fmt.Errorf("the last pass took %d:\n%s", len(requests), requests)
		}
		return nil
	})
}
