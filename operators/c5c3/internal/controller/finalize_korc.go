package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// orcFinalizer stands for what K-ORC has made in Keystone, and for the copy of
// the application credential in the secret store.
const orcFinalizer = "c5c3.io/orc-teardown"

const (
	// korcFinalizers begin the names of all finalizers of K-ORC.
	korcFinalizers = orcv1alpha1.GroupName + "/"
	// importPatience is how long the objects of imports get when nothing else is
	// left. They have nothing in Keystone that could be left behind.
	importPatience = 30 * time.Second
	// teardownPeriod is how often a deletion that waits looks again.
	teardownPeriod = 10 * time.Second
)

// finalizeKORC has K-ORC remove what it made while Keystone still answers, and
// External Secrets the copy in the store. Everything else goes by garbage
// collection, as soon as the finalizer does.
func (all serviceList) finalizeKORC(ctx context.Context, s *scope) reconcile.Outcome {
	left, err := s.tearDown(ctx, all)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	waiting := left.describe()
	wait := reconcile.Waiting(c5c3v1alpha1.ReasonFinalizingORC, fmt.Sprintf(
		"K-ORC and External Secrets are removing %s; after %s the deletion continues without them", strings.Join(waiting, ", "), s.stallTimeout)).
		OnTransition(corev1.EventTypeNormal, c5c3v1alpha1.EventFinalizingORC, "Removing what K-ORC created in Keystone")
	switch {
	case len(waiting) == 0 && s.missingKORCKind() != "":
		return s.whenKORCMissing(ctx, left.keystoneGone)
	case len(waiting) == 0:
		return tornDown()
	case !s.late() && (left.push != "" || !left.keystoneGone):
		return wait.After(min(teardownPeriod, s.stallTimeout/8))
	}
	begun, err := s.deleteRemaining(ctx, left.objects)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	case begun:
		return wait.After(time.Second)
	}
	if err := s.removeKORCFinalizers(ctx, left.objects); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	if left.keystoneGone && left.push == "" {
		return s.goneWithKeystone(ctx, waiting)
	}
	return leftBehind(fmt.Sprintf("Not removed within %s", s.stallTimeout), waiting)
}

// remains is what a deletion has not got rid of yet.
type remains struct {
	objects []orcObject
	// unrevoked are the errors of credentials that could not be revoked, by the
	// names of their objects.
	unrevoked map[string]error
	// push describes the copy in the secret store, "" when it is gone.
	push         string
	keystoneGone bool
}

func (s *scope) tearDown(ctx context.Context, all serviceList) (left remains, err error) {
	if left.keystoneGone, err = s.keystoneIsGone(ctx, all.identity()); err != nil {
		return left, err
	}
	if err := s.removeORCObjects(ctx, all, &left); err != nil {
		return left, err
	}
	left.push, err = s.removePush(ctx, len(left.objects) == 0 || left.keystoneGone || s.late())
	return left, err
}

func (left remains) describe() []string {
	texts := make([]string, 0, len(left.objects)+1)
	for _, obj := range left.objects {
		text := describe(obj)
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

// goneWithKeystone is the outcome when Keystone went before what was in it. That
// is gone, too, when the database has gone with its namespace.
func (s *scope) goneWithKeystone(ctx context.Context, left []string) reconcile.Outcome {
	lives, err := s.databaseLives(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	case lives:
		return leftBehind("Not removed before Keystone was gone", left)
	}
	return tornDown()
}

// databaseLives reports whether there is a database that may still have what was
// in Keystone: the user's own, or one that nobody deletes.
func (s *scope) databaseLives(ctx context.Context) (bool, error) {
	ref := s.cp.Spec.Infrastructure.Database.ClusterRef
	if ref == nil {
		return true, nil
	}
	if !s.kinds.Served(infraapi.MariaDBKind) {
		return false, nil
	}
	database := &infraapi.MariaDB{}
	err := s.foreign.Get(ctx, s.key(ref.Name), database)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading MariaDB %s: %w", ref.Name, err)
	}
	return err == nil && database.DeletionTimestamp.IsZero(), nil
}

func tornDown() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "What K-ORC made is gone").
		WithNormalEvent(c5c3v1alpha1.EventORCTeardownComplete, "What K-ORC created in Keystone, and its copy in the secret store, is gone")
}

func leftBehind(cause string, left []string) reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "The deletion continues without K-ORC").
		WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventORCTeardownStalled, fmt.Sprintf(
			"%s: %s; delete what is left there by hand, in OpenStack or in the secret store", cause, strings.Join(left, ", ")))
}

// keystoneIsGone reports whether there is nobody left whom K-ORC could ask: the
// Keystone goes first when its whole namespace is deleted.
func (s *scope) keystoneIsGone(ctx context.Context, identity service) (bool, error) {
	if !s.kinds.Served(identity.kind) {
		return true, nil
	}
	err := s.foreign.Get(ctx, s.key(s.cp.KeystoneName()), identity.empty())
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading Keystone %s: %w", s.cp.KeystoneName(), err)
	}
	return err != nil, nil
}

// late reports whether the deletion has waited long enough for others.
func (s *scope) late() bool {
	return s.now().Sub(s.cp.DeletionTimestamp.Time) >= s.stallTimeout
}

// removeORCObjects deletes the K-ORC objects of the control plane and reports
// those that are still there. Imports go last: the others need them.
func (s *scope) removeORCObjects(ctx context.Context, all serviceList, left *remains) error {
	if s.missingKORCKind() != "" {
		return nil
	}
	managed, err := s.managedObjects(ctx, all)
	if err != nil {
		return err
	}
	left.unrevoked = map[string]error{}
	for _, obj := range managed {
		if err := s.revokeBeforeEnd(ctx, obj, left.keystoneGone); err != nil {
			left.unrevoked[obj.GetName()] = err
			// K-ORC may succeed where the operator does not: it gets half of the timeout.
			if s.now().Sub(s.cp.DeletionTimestamp.Time) < s.stallTimeout/2 {
				continue
			}
		}
		if err := s.removeWithResource(ctx, obj); err != nil {
			return err
		}
	}
	imports, err := s.ownedORC(ctx, userImport(s.cp, userCloud(s.cp)), domainImport(s.cp, userCloud(s.cp)))
	if err != nil {
		return err
	}
	if len(managed) > 0 {
		left.objects = append(managed, imports...)
		return nil
	}
	left.objects, err = s.removeImports(ctx, imports)
	return err
}

// revokeBeforeEnd revokes a credential unless there is no Keystone any more.
func (s *scope) revokeBeforeEnd(ctx context.Context, obj client.Object, keystoneGone bool) error {
	if keystoneGone {
		return nil
	}
	return s.revokeInKeystone(ctx, obj)
}

// removeImports deletes imports. They work with the application credential,
// which is revoked by now, and are therefore given the password first.
func (s *scope) removeImports(ctx context.Context, imports []orcObject) ([]orcObject, error) {
	var left []orcObject
	for _, obj := range imports {
		if !obj.GetDeletionTimestamp().IsZero() && s.now().Sub(obj.GetDeletionTimestamp().Time) >= min(importPatience, s.stallTimeout) {
			if err := s.stripFinalizers(ctx, obj); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.removeWithResource(ctx, obj); err != nil {
			return nil, err
		}
		left = append(left, obj)
	}
	return left, nil
}

// managedObjects are those with something in Keystone.
func (s *scope) managedObjects(ctx context.Context, all serviceList) ([]orcObject, error) {
	credential := &orcv1alpha1.ApplicationCredential{ObjectMeta: controlplane.ChildMeta(s.cp, s.cp.ApplicationCredentialName())}
	found, err := s.ownedORC(ctx, append([]orcObject{credential}, all.catalogObjects(s.cp)...)...)
	if err != nil {
		return nil, err
	}
	superseded, err := s.supersededCredentials(ctx)
	if err != nil {
		return nil, err
	}
	for _, old := range superseded {
		found = append(found, old)
	}
	users, err := s.serviceUsers(ctx)
	resources, listErr := s.bootstrapObjects(ctx)
	return slices.Concat(found, users, resources), errors.Join(err, listErr)
}

// ownedORC reads the objects and returns those that exist and belong to the
// control plane.
func (s *scope) ownedORC(ctx context.Context, objects ...orcObject) ([]orcObject, error) {
	var found []orcObject
	for _, obj := range objects {
		err := s.foreign.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("reading %s %s: %w", kindName(obj), obj.GetName(), err)
		case metav1.IsControlledBy(obj, s.cp):
			found = append(found, obj)
		}
	}
	return found, nil
}

func (s *scope) removeOnce(ctx context.Context, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return s.remove(ctx, obj)
}

// removePush deletes the PushSecret, once nothing needs the credential in the
// store any more, and describes it as long as it is there.
func (s *scope) removePush(ctx context.Context, ready bool) (string, error) {
	if !s.kinds.Served(pushSecretKind) {
		return "", nil
	}
	push := &esov1alpha1.PushSecret{}
	err := s.foreign.Get(ctx, s.key(s.cp.CredentialPushName()), push)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading PushSecret %s: %w", s.cp.CredentialPushName(), err)
	case !metav1.IsControlledBy(push, s.cp):
		return "", nil
	}
	if ready {
		if err := s.removeOnce(ctx, push); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("PushSecret %s with its copy at %s", push.Name, credentialPath(s.cluster, s.cp)), nil
}

// deleteRemaining begins the deletion of whatever is not being deleted yet, and tells
// whether there was such a thing: K-ORC would put its finalizer on that again.
func (s *scope) deleteRemaining(ctx context.Context, left []orcObject) (begun bool, err error) {
	for _, obj := range left {
		if !obj.GetDeletionTimestamp().IsZero() {
			continue
		}
		begun = true
		if err := s.remove(ctx, obj); err != nil {
			return begun, err
		}
	}
	return begun, nil
}

// removeKORCFinalizers takes K-ORC's finalizers off, because nobody else will: off the
// objects and off the Secrets that they use.
func (s *scope) removeKORCFinalizers(ctx context.Context, left []orcObject) error {
	for _, obj := range left {
		if err := s.stripFinalizers(ctx, obj); err != nil {
			return err
		}
	}
	for _, name := range []string{s.cp.PasswordCloudSecretName(), s.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName} {
		secret := &corev1.Secret{}
		err := s.refs.Get(ctx, s.key(name), secret)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return fmt.Errorf("reading Secret %s: %w", name, err)
		}
		if controller := metav1.GetControllerOf(secret); controller == nil || controller.UID != s.cp.UID && controller.Name != name {
			continue
		}
		if err := s.stripFinalizers(ctx, secret); err != nil {
			return err
		}
	}
	return nil
}

// stripFinalizers takes K-ORC's off. K-ORC may do so at the same time: a pass that
// ended there would leave the next one nothing of what was given up, so it does not
// wait for the cache to catch up.
func (s *scope) stripFinalizers(ctx context.Context, obj client.Object) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err := s.patchFinalizers(ctx, obj)
		if !apierrors.IsConflict(err) {
			return err
		}
		if readErr := s.owned.Live.Get(ctx, client.ObjectKeyFromObject(obj), obj); readErr != nil {
			return client.IgnoreNotFound(readErr)
		}
		return err
	})
}

func (s *scope) patchFinalizers(ctx context.Context, obj client.Object) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(name string) bool { return strings.HasPrefix(name, korcFinalizers) }))
	if len(obj.GetFinalizers()) == len(before.GetFinalizers()) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.foreign.Patch(ctx, obj, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("taking K-ORC's finalizers off %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}
