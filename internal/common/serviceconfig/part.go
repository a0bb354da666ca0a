package serviceconfig

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
)

// Part is what a package adds to the configuration of each service that uses it. All of its
// fields may be nil.
type Part struct {
	// Options returns the options that the operator sets, without secret ones.
	Options func(p *service.Pass) ini.File
	// SecretOptions returns the operator's secret options, which
	// spec.extraConfigSecretRef overrides, and the UIDs of the Secrets that they come
	// from. It hides the values that must not be quoted from tools.
	SecretOptions func(ctx context.Context, p *service.Pass) (ini.File, []types.UID, error)
	// Derived returns secret options that follow from those of SecretOptions. Whoever asks
	// what users have given ([service.Rendered].Given) does not see them.
	Derived func(p *service.Pass, secret ini.File) ini.File
	// Files are additional configuration files by name.
	Files map[string]string
	// Lists are functions that return the options of a library, as in [Check].
	Lists []string
}

// partOptions returns the options of all parts.
func partOptions(p *service.Pass, parts []Part) ini.File {
	options := ini.File{}
	for _, part := range parts {
		if part.Options != nil {
			options = options.Merge(part.Options(p))
		}
	}
	return options
}

// partSecrets returns the secret options of all parts.
func partSecrets(ctx context.Context, p *service.Pass, parts []Part) (secretOptions, error) {
	secret := secretOptions{options: ini.File{}, derived: ini.File{}}
	for _, part := range parts {
		if part.SecretOptions == nil {
			continue
		}
		options, sources, err := part.SecretOptions(ctx, p)
		if err != nil {
			return secretOptions{}, err
		}
		secret.options, secret.sources = secret.options.Merge(options), append(secret.sources, sources...)
		if part.Derived != nil {
			secret.derived = secret.derived.Merge(part.Derived(p, options))
		}
	}
	return secret, nil
}
