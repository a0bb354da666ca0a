package controller

import (
	"fmt"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/keysecret"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/password"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// Controller declares the controller of Keystones.
var Controller = apiservice.Controller[*keystonev1alpha1.Keystone, *pass.Toolbox]{
	Definition:  &pass.Definition,
	Metrics:     metrics.Operator,
	For:         &keystonev1alpha1.Keystone{},
	List:        &keystonev1alpha1.KeystoneList{},
	AddToScheme: keystonev1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    keystonev1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
	SecretRefs:  secretRefs,
	Kinds: []controller.Kind{
		{Object: &batchv1.CronJob{}},
		{Object: &corev1.ServiceAccount{}},
		{Object: &rbacv1.Role{}},
		{Object: &rbacv1.RoleBinding{}},
		// Those of the keys lose their controller in a foreground deletion.
		{Object: &esov1alpha1.PushSecret{}, Also: apiservice.Unowned, AddToScheme: esov1alpha1.AddToScheme, Optional: true},
	},
	Attached:   []apiservice.Attached{identityBackends.Controller()},
	Own:        toolbox,
	Background: func(own *pass.Toolbox) []controller.Background { return []controller.Background{own.Proofs} },
	Forget:     func(own *pass.Toolbox, name types.NamespacedName) { own.Lifetimes.Forget(name) },
}

// Outlines describes the controllers of this operator for the documentation.
var Outlines = Controller.Outlines

// toolbox returns the tools that no other service has.
func toolbox(in *controller.Shared) (*pass.Toolbox, error) {
	lifetimes, err := metrics.NewLifetimes(ctrlmetrics.Registry)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return &pass.Toolbox{
		Proofs: proof.NewProver(in.Options.Probe), Lifetimes: lifetimes,
		SecretStoreTimeout: keysecret.StoreTimeout, Propagation: in.Config.Propagation(),
	}, nil
}

// secretRefs returns the operator's own Secrets that a pass also reads through Refs. A
// lost key Secret may be restored without the owner reference by which it would be
// watched, and a Secret of that name may have another owner.
func secretRefs(k *keystonev1alpha1.Keystone) []string {
	return append(keys.SecretNames(k), k.Spec.Bootstrap.AdminPasswordSecretRef.Name, password.NextName(k))
}
