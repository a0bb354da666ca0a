package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/operators/c5c3/internal/appcredential"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// importPatience is how long the objects of imports get if nothing else is left. They
// have no resource in Keystone that could be left behind.
const importPatience = 30 * time.Second

// remains is what a deletion has not removed yet.
type remains struct {
	objects []korc.Object
	// unrevoked holds the errors of failed revocations by the name of the credential's
	// object.
	unrevoked map[string]error
	// push describes the copy in the secret store, "" if it is gone.
	push         string
	keystoneGone bool
}

func tearDown(ctx context.Context, s *pass.Pass, all services.List, keystoneGone bool) (left remains, err error) {
	left.keystoneGone = keystoneGone
	if err := removeORCObjects(ctx, s, all, &left); err != nil {
		return left, err
	}
	left.push, err = removePush(ctx, s, len(left.objects) == 0 || left.keystoneGone || late(s))
	return left, err
}

// keystoneIsGone reports whether there is no Keystone left for K-ORC to use: when the
// whole namespace is deleted, Keystone goes first.
func keystoneIsGone(ctx context.Context, s *pass.Pass, identity services.Service) (bool, error) {
	if !s.Kinds.Served(identity.Kind) {
		return true, nil
	}
	keystone, err := apply.Find(ctx, s.ThirdParty, pass.Key(s, s.CP.KeystoneName()), identity.Empty())
	return keystone == nil, err
}

// late reports whether the deletion has waited long enough for others.
func late(s *pass.Pass) bool {
	return s.Now().Sub(teardownSince(s)) >= s.StallTimeout
}

// removeORCObjects deletes the K-ORC objects of the control plane and records those that
// still exist. Imports are deleted last because the others need them.
func removeORCObjects(ctx context.Context, s *pass.Pass, all services.List, left *remains) error {
	if korc.MissingKind(s) != "" {
		return nil
	}
	managed, err := managedObjects(ctx, s, all)
	if err != nil {
		return err
	}
	left.unrevoked = map[string]error{}
	for _, obj := range managed {
		if err := revokeBeforeEnd(ctx, s, obj, left.keystoneGone); err != nil {
			left.unrevoked[obj.GetName()] = err
			// K-ORC may succeed where the operator does not, so it gets half of the
			// timeout.
			if s.Now().Sub(teardownSince(s)) < s.StallTimeout/2 {
				continue
			}
		}
		if err := korc.RemoveWithResource(ctx, s, obj); err != nil {
			return err
		}
	}
	with := korc.UserCloud(s.CP)
	imports, err := ownedORC(ctx, s, appcredential.UserImport(s.CP, with), appcredential.DomainImport(s.CP, with))
	if err != nil {
		return err
	}
	if len(managed) > 0 {
		left.objects = append(managed, imports...)
		return nil
	}
	left.objects, err = removeImports(ctx, s, imports)
	return err
}

// revokeBeforeEnd revokes a credential unless Keystone is gone.
func revokeBeforeEnd(ctx context.Context, s *pass.Pass, obj client.Object, keystoneGone bool) error {
	if keystoneGone {
		return nil
	}
	return korc.RevokeInKeystone(ctx, s, obj)
}

// removeImports deletes imports. They use the application credential, which is revoked by
// now, so they are first switched to the password.
func removeImports(ctx context.Context, s *pass.Pass, imports []korc.Object) ([]korc.Object, error) {
	var left []korc.Object
	for _, obj := range imports {
		if !obj.GetDeletionTimestamp().IsZero() && s.Now().Sub(obj.GetDeletionTimestamp().Time) >= min(importPatience, s.StallTimeout) {
			if err := stripFinalizers(ctx, s, obj); err != nil {
				return nil, err
			}
			continue
		}
		if err := korc.RemoveWithResource(ctx, s, obj); err != nil {
			return nil, err
		}
		left = append(left, obj)
	}
	return left, nil
}

// managedObjects returns the objects with a resource in Keystone.
func managedObjects(ctx context.Context, s *pass.Pass, all services.List) ([]korc.Object, error) {
	credential := &orcv1alpha1.ApplicationCredential{ObjectMeta: controlplane.ChildMeta(s.CP, s.CP.ApplicationCredentialName())}
	found, err := ownedORC(ctx, s, append([]korc.Object{credential}, all.CatalogObjects(s.CP)...)...)
	if err != nil {
		return nil, err
	}
	superseded, err := appcredential.Superseded(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, old := range superseded {
		found = append(found, old)
	}
	users, err := services.Users(ctx, s)
	resources, listErr := services.BootstrapObjects(ctx, s)
	return slices.Concat(found, users, resources), errors.Join(err, listErr)
}

// ownedORC reads the objects and returns those that exist and belong to the control
// plane.
func ownedORC(ctx context.Context, s *pass.Pass, objects ...korc.Object) ([]korc.Object, error) {
	var found []korc.Object
	for _, obj := range objects {
		live, err := apply.Find(ctx, s.ThirdParty, client.ObjectKeyFromObject(obj), obj)
		if err != nil {
			return nil, err
		}
		if live != nil && metav1.IsControlledBy(live, s.CP) {
			found = append(found, live)
		}
	}
	return found, nil
}

// removePush deletes the PushSecret once nothing needs the credential in the store any
// more, and describes it while it exists.
func removePush(ctx context.Context, s *pass.Pass, ready bool) (string, error) {
	if !s.Kinds.Served(secrets.PushSecretGVK) {
		return "", nil
	}
	push, err := apply.Find(ctx, s.ThirdParty, pass.Key(s, s.CP.CredentialPushName()), &esov1alpha1.PushSecret{})
	if err != nil || push == nil || !metav1.IsControlledBy(push, s.CP) {
		return "", err
	}
	if abandoned, err := secrets.AbandonInNamespace(ctx, s.ThirdParty, push, late(s)); err != nil || abandoned {
		return "", err
	}
	if ready {
		if err := korc.RemoveOnce(ctx, s, push); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("PushSecret %s with its copy at %s", push.Name, controlplane.CredentialPath(s.Cluster, s.CP)), nil
}

// deleteRemaining deletes the objects that are not being deleted yet, and reports whether
// there were any: K-ORC would add its finalizer to those again.
func deleteRemaining(ctx context.Context, s *pass.Pass, left []korc.Object) (begun bool, err error) {
	for _, obj := range left {
		if !obj.GetDeletionTimestamp().IsZero() {
			continue
		}
		begun = true
		if err := korc.Remove(ctx, s, obj); err != nil {
			return begun, err
		}
	}
	return begun, nil
}

func (left remains) describe() []string {
	texts := make([]string, 0, len(left.objects)+1)
	for _, obj := range left.objects {
		text := korc.Describe(obj)
		if err := left.unrevoked[obj.GetName()]; err != nil {
			text = fmt.Sprintf("%s: %v", text, err)
		}
		texts = append(texts, text)
	}
	if left.push != "" {
		texts = append(texts, left.push)
	}
	return texts
}
