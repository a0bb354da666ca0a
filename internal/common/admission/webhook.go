// Package admission has the admission webhook of every kind: it sets defaults,
// refuses invalid objects, and prevents the deletion of objects that an annotation
// protects. A kind provides only its own rules.
package admission

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Webhook is the admission webhook of the kind T, a pointer to a Go type. Functions
// that the kind does not need are nil.
type Webhook[T client.Object] struct {
	// Object is an empty object of the kind.
	Object T
	// Kind and Resource name the kind in errors.
	Kind     schema.GroupKind
	Resource schema.GroupResource
	// Spec returns the part of an object that the rules apply to. An update that does not
	// change it is not checked. If Spec is nil, every update is.
	Spec func(T) any
	// Defaults sets what the user left out. A kind without it has no mutating webhook.
	Defaults func(T)
	// Rules returns what is wrong with an object on its own.
	Rules func(T) field.ErrorList
	// Limits refuse new values only.
	Limits rules.Limits[T]
	// UpdateRules returns what is wrong with an update, in addition to what Rules finds
	// wrong with its result. Both objects have their defaults.
	UpdateRules func(old, updated T) field.ErrorList
	// Lookup returns what is wrong with an object in relation to others, which it reads.
	// The old object is nil on creation, and has its defaults on an update.
	Lookup func(ctx context.Context, reader client.Reader, old, updated T) field.ErrorList
	// Warnings returns warnings about what is valid but probably not intended. It may
	// contain empty texts.
	Warnings func(ctx context.Context, reader client.Reader, object T) []string
	// Reader is what Lookup and Warnings read from. It should not be cached, so that
	// an object created a moment ago is found and no cache of all objects of a kind is
	// kept. If it is nil, SetupWebhookWithManager uses the manager's API reader.
	Reader client.Reader
}

// SetupWebhookWithManager serves the webhook from the manager's webhook server.
func (w *Webhook[T]) SetupWebhookWithManager(mgr ctrl.Manager) error {
	hook := *w
	if hook.Reader == nil {
		hook.Reader = mgr.GetAPIReader()
	}
	if hook.Defaults != nil {
		kind, err := mgr.GetClient().GroupVersionKindFor(hook.Object)
		if err != nil {
			return err
		}
		mgr.GetWebhookServer().Register(mutatingPath(kind), hook.mutating(mgr.GetScheme()))
	}
	return ctrl.NewWebhookManagedBy(mgr, hook.Object).WithValidator(&hook).Complete()
}

// mutatingPath is where the API server finds the mutating webhook of a kind, by the
// convention of controller-runtime.
func mutatingPath(kind schema.GroupVersionKind) string {
	return "/mutate-" + strings.ReplaceAll(kind.Group, ".", "-") + "-" + kind.Version + "-" + strings.ToLower(kind.Kind)
}

// mutating returns the webhook that sets defaults.
func (w *Webhook[T]) mutating(scheme *runtime.Scheme) *admission.Webhook {
	hook := admission.WithDefaulter(scheme, w)
	hook.Handler = fitting[T]{Handler: hook.Handler, refuse: func(name string, errs field.ErrorList) *apierrors.StatusError {
		return apierrors.NewInvalid(w.Kind, name, errs)
	}}
	return hook
}

// Default sets what the user left out.
func (w *Webhook[T]) Default(_ context.Context, object T) error {
	if w.Defaults != nil {
		w.Defaults(object)
	}
	return nil
}

// ValidateCreate refuses a new object that is invalid. A single error of type Invalid
// contains everything that is wrong.
func (w *Webhook[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	var none T
	return w.answer(ctx, none, object, append(w.rules(object), w.Limits.Table().Validate(object)...))
}

// ValidateUpdate refuses a change that is invalid or that would break what already
// runs. It accepts every change of an object that is being deleted, and every change
// that leaves the spec alone: neither may be blocked by a rule that is newer than the
// object, or by another object that no longer exists.
func (w *Webhook[T]) ValidateUpdate(ctx context.Context, old, updated T) (admission.Warnings, error) {
	if updated.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	before := apply.Copy(old)
	if w.Defaults != nil {
		w.Defaults(before)
	}
	if w.Spec != nil && equality.Semantic.DeepEqual(w.Spec(before), w.Spec(updated)) {
		return nil, nil
	}
	errs := append(w.rules(updated), w.Limits.Changed(before, updated)...)
	if w.UpdateRules != nil {
		errs = append(errs, w.UpdateRules(before, updated)...)
	}
	return w.answer(ctx, before, updated, errs)
}

// ValidateDelete refuses to delete an object that an annotation protects.
func (w *Webhook[T]) ValidateDelete(_ context.Context, object T) (admission.Warnings, error) {
	if object.GetAnnotations()[commonv1.AnnotationDeletionProtection] != "true" {
		return nil, nil
	}
	return nil, apierrors.NewForbidden(w.Resource, object.GetName(), fmt.Errorf(
		"it is protected from deletion; remove the annotation %s first", commonv1.AnnotationDeletionProtection))
}

func (w *Webhook[T]) rules(object T) field.ErrorList {
	if w.Rules == nil {
		return nil
	}
	return w.Rules(object)
}

func (w *Webhook[T]) answer(ctx context.Context, old, updated T, errs field.ErrorList) (admission.Warnings, error) {
	if w.Lookup != nil {
		errs = append(errs, w.Lookup(ctx, w.Reader, old, updated)...)
	}
	var warnings admission.Warnings
	if w.Warnings != nil {
		for _, warning := range w.Warnings(ctx, w.Reader, updated) {
			if warning != "" {
				warnings = append(warnings, warning)
			}
		}
	}
	if len(errs) == 0 {
		return warnings, nil
	}
	return warnings, apierrors.NewInvalid(w.Kind, updated.GetName(), errs)
}
