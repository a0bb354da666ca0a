package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator/startup"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/password"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// declaration declares the controller without the dependencies of a running operator.
var declaration = controller.Controller[*keystonev1alpha1.Keystone, *pass.Toolbox]{
	Definition:  &pass.Definition,
	New:         func() *keystonev1alpha1.Keystone { return &keystonev1alpha1.Keystone{} },
	NewList:     func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} },
	AddToScheme: keystonev1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    keystonev1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
	SecretRefs:  secretRefs,
	Kinds: []controller.Kind[*keystonev1alpha1.Keystone]{
		{Object: &batchv1.CronJob{}},
		{Object: &corev1.ServiceAccount{}},
		{Object: &rbacv1.Role{}},
		{Object: &rbacv1.RoleBinding{}},
		// Those of the keys lose their controller in a foreground deletion.
		{Object: &esov1alpha1.PushSecret{}, Orphaned: controller.Unowned, AddToScheme: esov1alpha1.AddToScheme, Optional: true},
	},
	Metrics: metrics.Operator,
}

// Options are overridden by tests; the operator runs with the zero value.
type Options struct {
	controller.Options
	// SecretStoreTimeout bounds the waits for External Secrets during deletion; zero
	// means the default.
	SecretStoreTimeout time.Duration
}

// Scheme registers every type that the controller reads or writes.
func Scheme() *runtime.Scheme { return declaration.Scheme() }

// Trim is the cache transform that drops fields nothing reads.
var Trim = declaration.Trim()

// Setup registers the controller with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config) error {
	return SetupWith(ctx, mgr, cfg, Options{})
}

// SetupWith is Setup with overridable parts.
func SetupWith(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, options Options) error {
	lifetimes, err := metrics.NewLifetimes(ctrlmetrics.Registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	own := &pass.Toolbox{
		Proofs: proof.NewProver(options.Probe), Lifetimes: lifetimes,
		SecretStoreTimeout: cmp.Or(options.SecretStoreTimeout, keys.DefaultStoreTimeout), Propagation: cfg.Propagation(),
	}
	c := declaration
	c.Own = own
	c.Runnables, c.Sources = []manager.Runnable{own.Proofs}, []source.Source{own.Proofs.Source()}
	c.Forget = func(name types.NamespacedName) {
		own.Proofs.Forget(name)
		own.Lifetimes.Forget(name)
	}
	return c.SetupWith(ctx, mgr, cfg, options.Options)
}

// secretRefs returns the operator's own Secrets that a pass also reads through Refs. A
// lost key Secret may be restored without the owner reference by which it would be
// watched, and a Secret of that name may have another owner.
func secretRefs(k *keystonev1alpha1.Keystone) []string {
	return append(keys.SecretNames(k), k.Spec.Bootstrap.AdminPasswordSecretRef.Name, password.NextName(k))
}
