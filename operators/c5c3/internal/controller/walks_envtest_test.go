//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

// state is what a run is judged by.
type state struct {
	Conditions map[string]string
	// Resources counts the resources in Keystone by kind.
	Resources map[string]int
	// Objects counts the K-ORC objects for application credentials.
	Objects int
	// Made counts the application credentials that were ever created.
	Made int
}

func observe(ctx context.Context, namespace string) (state, error) {
	s := state{Conditions: map[string]string{}, Resources: map[string]int{}, Made: korc.Made(namespace, "ApplicationCredential")}
	cp := minimal(namespace)
	if err := conform.Admin.Get(ctx, client.ObjectKeyFromObject(cp), cp); client.IgnoreNotFound(err) != nil {
		return s, err
	}
	for _, condition := range cp.Status.Conditions {
		s.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	for _, kind := range []string{"ApplicationCredential", "Service", "Endpoint"} {
		s.Resources[kind] = len(korc.Names(namespace, kind))
	}
	var credentials orcv1alpha1.ApplicationCredentialList
	err := conform.Admin.List(ctx, &credentials, client.InNamespace(namespace))
	s.Objects = len(credentials.Items)
	return s, err
}

func observed(ctx context.Context, namespace string) (any, error) { return observe(ctx, namespace) }

// hasOneCredential returns nil if there is one application credential.
func hasOneCredential(ctx context.Context, namespace string) error {
	return hasCredentials(ctx, namespace, 1)
}

// hasCredentials returns nil if there are as many application credentials.
func hasCredentials(ctx context.Context, namespace string, count int) error {
	if found := korc.Names(namespace, "ApplicationCredential"); len(found) != count {
		return fmt.Errorf("keystone has the application credentials %v", found)
	}
	var objects orcv1alpha1.ApplicationCredentialList
	if err := conform.Admin.List(ctx, &objects, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(objects.Items) != count {
		return fmt.Errorf("there are %d objects of application credentials", len(objects.Items))
	}
	return nil
}

// leftover is the state after a deletion.
func leftover(ctx context.Context, namespace string) (any, error) {
	s, err := observe(ctx, namespace)
	if stored := secrets.Stored(fmt.Sprintf("openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored != nil {
		s.Resources["copies in the store"] = 1
	}
	s.Conditions, s.Objects = nil, 0
	return s, err
}

// credentialRevoked returns nil if a deletion has left only the entry in the catalog, which
// Keystone itself registers.
func credentialRevoked(ctx context.Context, namespace string) error {
	left, err := leftover(ctx, namespace)
	if err != nil {
		return err
	}
	want := map[string]int{"ApplicationCredential": 0, "Endpoint": 1, "Service": 1}
	if diff := cmp.Diff(want, left.(state).Resources); diff != "" {
		return errors.New("what is left (-want +got):\n" + diff)
	}
	return nil
}

// oneMoreCredential also requires that one credential was made in addition to the first.
func oneMoreCredential(undisturbed, _, final any) string {
	if made := final.(state).Made; made != 2 {
		return fmt.Sprintf("%d credentials were made, expected the first one and one that was asked for", made)
	}
	if diff := cmp.Diff(undisturbed, final); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

// breaches are the namespaces in which a walk has seen what must never happen.
var breaches sync.Map

// lookForLockout records whether the users of the application credential cannot log in. A
// credential that is rejected right after it was replaced is no longer theirs.
func lookForLockout(ctx context.Context, namespace string) error {
	id, secret, err := testutil.CredentialInUse(ctx, conform.Admin, namespace)
	if err != nil || korc.Accepts(namespace, id, secret) {
		return err
	}
	now, _, err := testutil.CredentialInUse(ctx, conform.Admin, namespace)
	if err == nil && now == id {
		breaches.Store(namespace, fmt.Errorf("keystone refused the credential %q that the users had", id))
	}
	return err
}

// withoutBreach fails the test at its end if there was a breach.
func withoutBreach(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		for namespace, err := range breaches.Range {
			t.Errorf("%s: %v", namespace, err)
		}
	})
}
