package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// retainedConfigs is how many old configurations are kept beside the current
// one, so that a rollback finds its files.
const retainedConfigs = 3

// reconcileConfig renders the configuration into an immutable ConfigMap whose
// name follows its content, so that a change rolls the pods.
func reconcileConfig(ctx context.Context, s *scope) reconcile.Outcome {
	if err := s.readPolicyConfigMap(ctx); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Terminal(keystonev1alpha1.ReasonConfigError, err)
		}
		return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
	}
	rules, err := s.policyRules(ctx)
	if err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonConfigError, err)
	}
	secret, waiting := s.readSecretOptions(ctx)
	if waiting != nil {
		return *waiting
	}
	options := keystoneOptions(s.Cluster, s.keystone, len(rules) > 0)
	files, err := configFiles(s.Cluster, s.keystone, options, rules)
	if err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonConfigError, err)
	}
	name, err := config.CreateImmutableConfigMap(ctx, s.Client, s.APIReader, s.Scheme, s.keystone,
		configName(s.keystone), s.keystone.Namespace, commonLabels(s.keystone), files)
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonConfigError, err)
	}
	s.hideOptions(secret)
	if err := s.keepSecretOptions(ctx, secret); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonConfigError, err)
	}
	service.Config.Put(s.Slots, service.Rendered{
		ConfigMap: name, Secret: secret.name(), SecretFile: secretOptionsFile, Options: options.Merge(secret.options),
	})
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// readPolicyConfigMap brings the policy ConfigMap into the reader's memory, so
// that what fails afterwards is its content and not the way to it.
func (s *scope) readPolicyConfigMap(ctx context.Context) error {
	overrides := s.keystone.Spec.PolicyOverrides
	if overrides == nil || overrides.ConfigMapRef == nil {
		return nil
	}
	if err := s.Refs.Get(ctx, s.Key(overrides.ConfigMapRef.Name), &corev1.ConfigMap{}); err != nil {
		return fmt.Errorf("reading the ConfigMap of spec.policyOverrides.configMapRef: %w", err)
	}
	return nil
}

// policyRules are the rules of the policy ConfigMap overridden by the inline
// ones.
func (s *scope) policyRules(ctx context.Context) (map[string]string, error) {
	overrides := s.keystone.Spec.PolicyOverrides
	if overrides == nil {
		return nil, nil
	}
	var rules map[string]string
	if overrides.ConfigMapRef != nil {
		loaded, err := policy.LoadPolicyFromConfigMap(ctx, s.Refs, s.Key(overrides.ConfigMapRef.Name))
		if err != nil {
			return nil, fmt.Errorf("spec.policyOverrides.configMapRef: %w", err)
		}
		rules = loaded
	}
	return policy.Merge(rules, overrides.Rules), nil
}

// configFiles renders every file of the configuration directory.
func configFiles(c cluster.Settings, k *keystonev1alpha1.Keystone, options config.INI, rules map[string]string) (map[string]string, error) {
	files := map[string]string{}
	err := addPythonFiles(c, k, files)
	if err != nil {
		return nil, err
	}
	if files["keystone.conf"], err = options.Render(); err != nil {
		return nil, fmt.Errorf("keystone.conf: %w", err)
	}
	if files[pasteFile], err = config.RenderPaste(pasteFilters(k)); err != nil {
		return nil, fmt.Errorf("api-paste.ini: %w", err)
	}
	if len(k.Spec.Middleware) > 0 {
		if files[middlewareFile], err = middlewareWSGI(k); err != nil {
			return nil, err
		}
	}
	if len(rules) > 0 {
		if files["policy.yaml"], err = policy.Render(rules); err != nil {
			return nil, fmt.Errorf("policy.yaml: %w", err)
		}
	}
	if k.Spec.Logging.Format == commonv1.LogFormatJSON {
		if files[config.LoggingFile], err = config.JSONLogging(k.Spec.Logging).Render(); err != nil {
			return nil, fmt.Errorf("logging.conf: %w", err)
		}
	}
	return files, nil
}

// pruneConfigs removes configurations that no pod and no rollback needs.
func (s *scope) pruneConfigs(ctx context.Context) error {
	if err := s.pruneSecretOptions(ctx); err != nil {
		return err
	}
	return config.PruneImmutableConfigMaps(ctx, s.Client, s.keystone,
		configName(s.keystone), s.keystone.Namespace, service.Config.Value(s.Slots).ConfigMap, retainedConfigs)
}
