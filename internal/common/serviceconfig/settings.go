// Package serviceconfig renders the configuration of a service, verifies that its image
// can read it, and keeps as many versions as a rollback needs.
package serviceconfig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Settings declares the configuration of a service, in passes of type S.
type Settings[S service.Scoped] struct {
	// File is the name of the service's configuration file, such as "placement.conf". It
	// must sort before "secret.conf".
	File string
	// Options returns the options that the operator sets, without secret ones. They are
	// overridden by spec.logging, spec.globalExtraConfig, Plugins and spec.extraConfig, in
	// this order.
	Options func(S) ini.File
	// Plugins is the field in which users configure plugins, nil for a kind without one.
	Plugins *Plugins[S]
	// Filters is the field in which users add filters to the pipeline of the service, nil
	// for a kind without one.
	Filters *Filters[S]
	// Parts are what other packages add to the configuration. Options overrides theirs.
	Parts []Part
	// Files returns additional configuration files by name.
	Files func(S) (map[string]string, error)
	// Refused returns why options of spec.extraConfigSecretRef are rejected. The error
	// contains no values. It may be nil.
	Refused func(options map[string]map[string]string) error
	// Check declares how the image reads the configuration.
	Check Check
}

// Plugins is a field of users for options of plugins.
type Plugins[S service.Scoped] struct {
	// Field is the field, such as "spec.plugins".
	Field string
	// Options returns the options that are set there.
	Options func(S) ini.File
}

// Filters is a field of users for filters, which stand in a file whose name ends with
// "-paste.ini".
type Filters[S service.Scoped] struct {
	// Field is the field, such as "spec.middleware".
	Field string
	// Value returns the value of the field, and whether there is any filter.
	Value func(S) (value any, filtered bool)
}

// Reconcile renders the configuration into an immutable ConfigMap that is named after its
// content, and the secret options into an immutable Secret, so that a change rolls out
// new pods. It does so once everything else is there that pods mount. It sets
// [service.Config], and owns SecretsReady.
func (s Settings[S]) Reconcile(ctx context.Context, scope S) reconcile.Outcome {
	p := scope.ServicePass()
	if err := service.RequirePodInputs(ctx, p); err != nil {
		return reconcile.Failed(vocabulary.ReasonWaitingForPodInputs, err)
	}
	rules, err := policyRules(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonConfigError, err)
	}
	secret, err := s.readSecrets(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonConfigError, err)
	}
	options, files, err := s.Render(scope, rules)
	if err != nil {
		return reconcile.Terminal(vocabulary.ReasonConfigError, err)
	}
	name, err := config.CreateImmutableConfigMap(ctx, p.Client, p.APIReader, p.Scheme, p.Resource,
		p.Named("config"), p.Resource.GetNamespace(), p.Labels(p.Resource.GetName()), files)
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonConfigError, err)
	}
	copied, err := secret.copied(p)
	if err == nil && copied != nil {
		err = p.Owned.EnsureData(ctx, p.Resource, copied)
	}
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonConfigError, err)
	}
	rendered := service.Rendered{
		ConfigMap: name, SecretFile: secretFile, Policy: files[policy.File], Options: options.Merge(secret.all()),
	}
	if copied != nil {
		rendered.Secret = copied.Name
		if rendered.Given, err = secret.given(p); err != nil {
			return reconcile.Terminal(vocabulary.ReasonConfigError, err)
		}
	}
	p.Status.OverriddenOptions = s.overridden(scope, secret, rendered.Options)
	service.Config.Put(p.Slots, rendered)
	return service.SecretsAvailable()
}

// Render returns the merged options and the files of the ConfigMap, including the policy
// rules.
func (s Settings[S]) Render(scope S, rules map[string]string) (ini.File, map[string]string, error) {
	p := scope.ServicePass()
	options := partOptions(p, s.Parts).Merge(
		s.Options(scope), logOptions(p.Spec.Logging, p.ConfigDir), p.Options.GlobalExtraConfig, s.plugins(scope), p.Options.ExtraConfig)
	files, err := s.Files(scope)
	if err != nil {
		return nil, nil, err
	}
	for _, part := range s.Parts {
		maps.Copy(files, part.Files)
	}
	files[CheckFile] = s.check().Script(p.Definition)
	files[image.CheckFile] = image.Script(p.Definition)
	if len(rules) > 0 {
		options.Set("oslo_policy", "policy_file", p.ConfigDir+policy.File)
		if files[policy.File], err = policy.Render(rules); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", policy.File, err)
		}
	}
	if files[s.File], err = options.Render(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.File, err)
	}
	if p.Spec.Logging.Format == commonv1.LogFormatJSON {
		files[logHandlerFile] = handlerScript
		if files[loggingFile], err = jsonLogging(p.Spec.Logging).Render(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", loggingFile, err)
		}
	}
	return options, files, nil
}

func (s Settings[S]) plugins(scope S) ini.File {
	if s.Plugins == nil {
		return nil
	}
	return s.Plugins.Options(scope)
}

// check returns how the image reads the options of the service and of all parts.
func (s Settings[S]) check() Check {
	check := s.Check
	for _, part := range s.Parts {
		check.Lists = slices.Concat(check.Lists, part.Lists)
	}
	return check
}

// policyRules returns the rules of the policy ConfigMap, overridden by the inline ones.
func policyRules(ctx context.Context, p *service.Pass) (map[string]string, error) {
	overrides := p.Options.PolicyOverrides
	if overrides == nil {
		return nil, nil
	}
	var rules map[string]string
	if ref := overrides.ConfigMapRef; ref != nil {
		// Errors after a successful read are due to the content, so they are terminal.
		if err := p.Refs.Get(ctx, p.Key(ref.Name), &corev1.ConfigMap{}); err != nil {
			failed := fmt.Errorf("reading the ConfigMap of spec.policyOverrides.configMapRef: %w", err)
			if apierrors.IsNotFound(err) {
				return nil, reconcile.TerminalError("", failed)
			}
			return nil, failed
		}
		loaded, err := policy.LoadPolicyFromConfigMap(ctx, p.Refs, p.Key(ref.Name))
		if err != nil {
			return nil, reconcile.TerminalError("", fmt.Errorf("spec.policyOverrides.configMapRef: %w", err))
		}
		rules = loaded
	}
	return policy.Merge(rules, overrides.Rules), nil
}

// readSecrets returns the secret options; those of the user override the others.
func (s Settings[S]) readSecrets(ctx context.Context, p *service.Pass) (secretOptions, error) {
	secret, err := partSecrets(ctx, p, s.Parts)
	if err != nil {
		return secretOptions{}, err
	}
	ref := p.Options.ExtraConfigSecretRef
	if ref == nil {
		return secret, nil
	}
	key := ref.KeyOr(s.File)
	found, err := service.RequireSecrets(ctx, p, service.Requirement{
		Name: ref.Name, Keys: []string{key}, Field: "spec.extraConfigSecretRef", Reason: vocabulary.ReasonWaitingForExtraConfig,
	})
	if err != nil {
		return secretOptions{}, err
	}
	options, repeated, err := s.parse(found[0].Data[key])
	if err != nil {
		return secretOptions{}, reconcile.TerminalError("", fmt.Errorf(
			"key %s of Secret %s, which spec.extraConfigSecretRef names, cannot be used: %w", key, ref.Name, err))
	}
	hide(p, options, repeated)
	return secretOptions{
		options: secret.options.Merge(options), user: options, derived: secret.derived, repeated: repeated,
		sources: append(secret.sources, found[0].UID),
	}, nil
}

// parse reads and checks the options of spec.extraConfigSecretRef. An option may stand on
// several lines; whether it may have several values is up to the image. Errors contain
// nothing of the Secret except the names of known options.
func (s Settings[S]) parse(content []byte) (ini.File, ini.Repeated, error) {
	parsed, repeated, err := ini.ParseRepeated(string(content))
	if err != nil {
		return nil, nil, err
	}
	options := parsed.Merge()
	if len(options) < len(parsed) {
		return nil, nil, errors.New("it has one section in upper and lower case: keep one of them")
	}
	if s.Refused != nil {
		if err := s.Refused(options); err != nil {
			return nil, nil, err
		}
	}
	repeated = repeated.Normalised()
	if _, err := options.RenderRepeated(repeated); err != nil {
		return nil, nil, errors.New("the name of a section or an option in it is not valid")
	}
	return options, repeated, nil
}

// Prune removes configurations that neither a pod nor a rollback needs.
func Prune(ctx context.Context, p *service.Pass) error {
	current, retain := service.Config.Value(p.Slots), 0
	if current.Secret != "" {
		retain = 1
	}
	namespace := p.Resource.GetNamespace()
	if err := config.PruneImmutableSecrets(ctx, p.Client, p.Resource, p.Named("extra-config"), namespace, current.Secret, retain); err != nil {
		return err
	}
	return config.PruneImmutableConfigMaps(ctx, p.Client, p.Resource, p.Named("config"), namespace, current.ConfigMap, config.Retained)
}
