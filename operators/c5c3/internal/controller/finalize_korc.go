package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
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

// finalizers are the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{{
	Name: orcFinalizer,
	Step: reconcile.Step[*scope]{Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: finalizeKORC},
}}

// finalizeKORC has K-ORC remove what it made while Keystone still answers, and
// External Secrets the copy in the store. Everything else goes by garbage
// collection, as soon as the finalizer does.
func finalizeKORC(ctx context.Context, s *scope) reconcile.Outcome {
	left, err := s.removeORCObjects(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	gone, err := s.keystoneIsGone(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	push, err := s.removePush(ctx, len(left) == 0 || gone || s.late())
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	waiting := make([]string, 0, len(left)+1)
	for _, obj := range left {
		waiting = append(waiting, describe(obj))
	}
	if push != "" {
		waiting = append(waiting, push)
	}
	switch {
	case len(waiting) == 0:
		return tornDown()
	case !s.late() && (push != "" || !gone):
		return reconcile.Waiting(c5c3v1alpha1.ReasonFinalizingORC, fmt.Sprintf(
			"K-ORC and External Secrets are removing %s; after %s the deletion goes on without them", strings.Join(waiting, ", "), s.stallTimeout)).
			After(min(teardownPeriod, s.stallTimeout)).
			OnTransition(corev1.EventTypeNormal, c5c3v1alpha1.EventFinalizingORC, "Removing what K-ORC made in Keystone")
	}
	if err := s.abandon(ctx, left); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	if gone && push == "" {
		return s.goneWithKeystone(waiting)
	}
	return givenUp(fmt.Sprintf("Not removed within %s", s.stallTimeout), waiting)
}

// goneWithKeystone is the outcome when Keystone went before what was in it. That
// goes with the database, unless that is the user's.
func (s *scope) goneWithKeystone(left []string) reconcile.Outcome {
	if s.cp.Spec.Infrastructure.Database.Host == "" {
		return tornDown()
	}
	return givenUp("Not removed before Keystone was gone", left)
}

func tornDown() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "What K-ORC made is gone").
		WithNormalEvent(c5c3v1alpha1.EventORCTeardownComplete, "What K-ORC made in Keystone, and its copy in the secret store, is gone")
}

func givenUp(cause string, left []string) reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "The deletion goes on without K-ORC").
		WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventORCTeardownStalled, fmt.Sprintf(
			"%s: %s; delete by hand in OpenStack, or in the secret store, what is left there", cause, strings.Join(left, ", ")))
}

// keystoneIsGone tells whether there is nobody left whom K-ORC could ask: the
// Keystone goes first when its whole namespace is deleted.
func (s *scope) keystoneIsGone(ctx context.Context) (bool, error) {
	if !s.kinds.Served(keystoneKind) {
		return true, nil
	}
	err := s.foreign.Get(ctx, s.key(s.cp.KeystoneName()), &keystonev1alpha1.Keystone{})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading Keystone %s: %w", s.cp.KeystoneName(), err)
	}
	return err != nil, nil
}

// late tells whether the deletion has waited long enough for others.
func (s *scope) late() bool {
	return s.now().Sub(s.cp.DeletionTimestamp.Time) >= s.stallTimeout
}

// removeORCObjects deletes the K-ORC objects of the control plane and returns
// those that are still there. Imports go last: the others need them.
func (s *scope) removeORCObjects(ctx context.Context) ([]orcObject, error) {
	if s.missingKORCKind() != "" {
		return nil, nil
	}
	managed, err := s.managedObjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, obj := range managed {
		if err := s.removeOnce(ctx, obj); err != nil {
			return nil, err
		}
	}
	imports, err := s.ownedORC(ctx, userImport(s.cp, userCloud(s.cp)), domainImport(s.cp, userCloud(s.cp)))
	if err != nil {
		return nil, err
	}
	if len(managed) > 0 {
		return append(managed, imports...), nil
	}
	return s.removeImports(ctx, imports)
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
		if err := s.useAdminCloud(ctx, obj); err != nil {
			return nil, err
		}
		if err := s.removeOnce(ctx, obj); err != nil {
			return nil, err
		}
		left = append(left, obj)
	}
	return left, nil
}

func (s *scope) useAdminCloud(ctx context.Context, obj orcObject) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	var ref *orcv1alpha1.CloudCredentialsReference
	switch obj := obj.(type) {
	case *orcv1alpha1.User:
		ref = &obj.Spec.CloudCredentialsRef
	case *orcv1alpha1.Domain:
		ref = &obj.Spec.CloudCredentialsRef
	}
	if ref == nil || *ref == adminCloud(s.cp) {
		return nil
	}
	*ref = adminCloud(s.cp)
	if err := s.foreign.Patch(ctx, obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("giving %s %s the password: %w", kindName(obj), obj.GetName(), err)
	}
	return nil
}

// managedObjects are those with something in Keystone.
func (s *scope) managedObjects(ctx context.Context) ([]orcObject, error) {
	endpoint := &orcv1alpha1.Endpoint{ObjectMeta: childMeta(s.cp, s.cp.IdentityEndpointName())}
	credential := &orcv1alpha1.ApplicationCredential{ObjectMeta: childMeta(s.cp, s.cp.ApplicationCredentialName())}
	found, err := s.ownedORC(ctx, credential, endpoint, identityService(s.cp))
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
	resources, err := s.bootstrapObjects(ctx)
	return append(found, resources...), err
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
	return fmt.Sprintf("PushSecret %s with its copy at %s", push.Name, credentialPath(s.cp)), nil
}

// abandon takes K-ORC's finalizers off, because nobody else will: off the
// objects and off the Secrets that they use.
func (s *scope) abandon(ctx context.Context, left []orcObject) error {
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

func (s *scope) stripFinalizers(ctx context.Context, obj client.Object) error {
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
