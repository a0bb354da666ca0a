package serviceuser

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Options of the login with a password.
const (
	optionUsername = "username"
	optionPassword = "password"
)

const field = "spec.serviceUserSecretRef"

// readLogin returns the options with which the service user logs in: its name and password,
// or its application credential.
func readLogin(ctx context.Context, p *service.Pass) (ini.File, []types.UID, error) {
	ref := userOf(p).SecretRef
	password := ref.KeyOr(commonv1.PasswordKey)
	byCredential, err := hasCredential(ctx, p, ref.Name, password)
	if err != nil {
		return nil, nil, err
	}
	keys, render := []string{commonv1.UsernameKey, password}, passwordOptions
	if byCredential {
		keys, render = []string{commonv1.CredentialIDKey, commonv1.CredentialSecretKey}, credentialOptions
	}
	found, err := service.RequireSecrets(ctx, p, service.Requirement{
		Name: ref.Name, Keys: keys, Field: field, Reason: vocabulary.ReasonWaitingForServiceUser,
	})
	if err != nil {
		return nil, nil, err
	}
	name, secret := string(found[0].Data[keys[0]]), string(found[0].Data[keys[1]])
	options := render(escape(name), escape(secret))
	// The name is not secret, and often is that of the service itself.
	p.Hide(secret, escape(secret))
	for option, value := range options {
		if err := ini.ValidateValue(value); err != nil {
			return nil, nil, invalid("the %s in Secret %s of %s cannot be used: %w", option, ref.Name, field, err)
		}
	}
	return ini.File{section: options}, []types.UID{found[0].UID}, nil
}

// hasCredential reports whether the Secret has a key of an application credential. With a
// password, too, it would be open which of them the service uses.
func hasCredential(ctx context.Context, p *service.Pass, name, password string) (bool, error) {
	secret, _, err := service.LookUp(ctx, p, service.Requirement{Name: name, Field: field})
	if secret == nil || err != nil {
		return false, err
	}
	if !has(secret, commonv1.CredentialIDKey) && !has(secret, commonv1.CredentialSecretKey) {
		return false, nil
	}
	if has(secret, password) {
		return false, invalid(
			"in Secret %s of %s are both a password, under %s, and an application credential, under %s or %s; remove one of them",
			name, field, password, commonv1.CredentialIDKey, commonv1.CredentialSecretKey)
	}
	return true, nil
}

func has(secret *corev1.Secret, key string) bool {
	_, found := secret.Data[key]
	return found
}

func invalid(format string, arguments ...any) error {
	return reconcile.TerminalError(vocabulary.ReasonSecretInvalid, fmt.Errorf(format, arguments...))
}

func passwordOptions(name, password string) map[string]string {
	return map[string]string{optionUsername: name, optionPassword: password}
}

// credentialOptions logs in with an application credential. Keystone refuses the request if it
// also names a project, so that the option for a password is emptied.
func credentialOptions(id, secret string) map[string]string {
	return map[string]string{
		"auth_type": "v3applicationcredential", "project_name": "",
		commonv1.CredentialIDKey: id, commonv1.CredentialSecretKey: secret,
	}
}

// escape doubles dollar signs, because oslo.config takes them as references to other options.
func escape(value string) string { return strings.ReplaceAll(value, "$", "$$") }
