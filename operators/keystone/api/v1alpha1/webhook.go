package v1alpha1

import (
	"context"
	"fmt"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// +kubebuilder:webhook:path=/mutate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=true,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update,versions=v1alpha1,name=mkeystone.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=false,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update;delete,versions=v1alpha1,name=vkeystone.kb.io,admissionReviewVersions=v1

// KeystoneWebhook is the admission webhook of Keystones: it fills in defaults
// and refuses what cannot work.
//
// +kubebuilder:object:generate=false
type KeystoneWebhook struct {
	// Client reads the PriorityClass a Keystone names. It should not be a
	// cached one, so that a class created a moment ago is found and no cache
	// of all classes is kept. When it is nil, the manager's API reader is used.
	Client client.Reader
	// Keystones lists the Keystones that a new one must not share a database with.
	// It should not be a cached one either. When it is nil, SetupWebhookWithManager
	// uses the manager's API reader; without that nothing is listed.
	Keystones client.Reader
	// Cluster tells which names in DNS are one Service.
	Cluster cluster.Settings
}

var (
	_ admission.Defaulter[*Keystone] = &KeystoneWebhook{}
	_ admission.Validator[*Keystone] = &KeystoneWebhook{}
)

// SetupWebhookWithManager serves the webhook from the manager's webhook server.
func (w *KeystoneWebhook) SetupWebhookWithManager(mgr ctrl.Manager) error {
	hook := &KeystoneWebhook{Client: w.Client, Keystones: w.Keystones, Cluster: w.Cluster}
	if hook.Client == nil {
		hook.Client = mgr.GetAPIReader()
	}
	if hook.Keystones == nil {
		hook.Keystones = mgr.GetAPIReader()
	}
	return ctrl.NewWebhookManagedBy(mgr, &Keystone{}).WithDefaulter(hook).WithValidator(hook).Complete()
}

// Default fills in what the user left out.
func (w *KeystoneWebhook) Default(_ context.Context, k *Keystone) error {
	SetDefaults(k)
	return nil
}

// ValidateCreate refuses a new Keystone that cannot work. Everything that is
// wrong is in one error of type Invalid.
func (w *KeystoneWebhook) ValidateCreate(ctx context.Context, k *Keystone) (admission.Warnings, error) {
	errs := append(Validate(k), w.checkPriorityClass(ctx, k)...)
	errs = append(errs, w.checkDatabase(ctx, k)...)
	return warnings(k), invalid(k, errs)
}

// ValidateUpdate refuses a change that cannot work or that a running Keystone
// would not survive. It lets a Keystone that is being deleted, and a change
// that leaves the spec alone, pass: neither may hang on a rule that is newer
// than the object, or on another object that is gone.
func (w *KeystoneWebhook) ValidateUpdate(ctx context.Context, old, updated *Keystone) (admission.Warnings, error) {
	if updated.DeletionTimestamp != nil {
		return nil, nil
	}
	before := old.DeepCopy()
	SetDefaults(before)
	if equality.Semantic.DeepEqual(before.Spec, updated.Spec) {
		return nil, nil
	}
	errs := append(Validate(updated), ValidateUpdate(before, updated)...)
	if !equality.Semantic.DeepEqual(before.Spec.PriorityClassName, updated.Spec.PriorityClassName) {
		errs = append(errs, w.checkPriorityClass(ctx, updated)...)
	}
	if before.DatabaseKey(w.Cluster) != updated.DatabaseKey(w.Cluster) {
		errs = append(errs, w.checkDatabase(ctx, updated)...)
	}
	return warnings(updated), invalid(updated, errs)
}

// ValidateDelete refuses to delete a Keystone that an annotation protects.
func (w *KeystoneWebhook) ValidateDelete(_ context.Context, k *Keystone) (admission.Warnings, error) {
	return nil, commonv1.CheckDeletion(GroupVersion.WithResource("keystones").GroupResource(), k)
}

func (w *KeystoneWebhook) checkPriorityClass(ctx context.Context, k *Keystone) field.ErrorList {
	name := k.Spec.PriorityClassName
	if name == nil || *name == "" {
		return nil
	}
	path := field.NewPath("spec", "priorityClassName")
	err := w.Client.Get(ctx, client.ObjectKey{Name: *name}, &schedulingv1.PriorityClass{})
	switch {
	case apierrors.IsNotFound(err):
		return field.ErrorList{field.NotFound(path, *name)}
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("reading PriorityClass %q: %w", *name, err))}
	}
	return nil
}

// checkDatabase refuses a database that another Keystone has. An operator of a
// single namespace may read no others.
func (w *KeystoneWebhook) checkDatabase(ctx context.Context, k *Keystone) field.ErrorList {
	if w.Keystones == nil {
		return nil
	}
	path := field.NewPath("spec", "database")
	var all KeystoneList
	err := w.Keystones.List(ctx, &all)
	if apierrors.IsForbidden(err) {
		err = w.Keystones.List(ctx, &all, client.InNamespace(k.Namespace))
	}
	if err != nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("listing the Keystones: %w", err))}
	}
	for i := range all.Items {
		other := &all.Items[i]
		if (other.Namespace != k.Namespace || other.Name != k.Name) && other.DatabaseKey(w.Cluster) == k.DatabaseKey(w.Cluster) {
			return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
				"Keystone %s of namespace %s has the database %s; choose another name", other.Name, other.Namespace, k.Spec.Database.Database))}
		}
	}
	return nil
}

func invalid(k *Keystone, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(GroupVersion.WithKind("Keystone").GroupKind(), k.Name, errs)
}

// warnings names what works but probably not as the user wants.
func warnings(k *Keystone) admission.Warnings {
	var found admission.Warnings
	for _, warning := range []string{fernetWarning(k), k.ProxyAdvice()} {
		if warning != "" {
			found = append(found, warning)
		}
	}
	return found
}

// fernetWarning says how many keys the lifetime of tokens needs, "" when there are
// enough.
func fernetWarning(k *Keystone) string {
	lifetime, ok := k.Spec.TokenLifetime()
	if !ok {
		return ""
	}
	required, err := RequiredFernetKeys(k.Spec.Fernet.RotationSchedule, lifetime)
	if err != nil || int64(k.Spec.Fernet.MaxActiveKeys) >= required {
		return ""
	}
	return fmt.Sprintf(
		"spec.fernet: with maxActiveKeys %d and rotationSchedule %q a token can become invalid before its lifetime of %s ends: "+
			"set maxActiveKeys to at least %d, or rotate less often",
		k.Spec.Fernet.MaxActiveKeys, k.Spec.Fernet.RotationSchedule, lifetime, required)
}
