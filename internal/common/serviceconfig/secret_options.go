package serviceconfig

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

const (
	// secretFile is next to the service's configuration file. oslo.config reads the files
	// of a directory in the order of their names, and the last one wins (oslo_config.cfg,
	// _ConfigDirOpt).
	secretFile = "secret.conf"
	// secretBase is what the name of the Secret has between that of the resource and the hash.
	secretBase = "extra-config"
	// minSecretValue is the shortest length of an option value that is redacted. Shorter
	// ones are mostly numbers and switches; without them errors would be meaningless.
	minSecretValue = 6
)

// secretOptions are options that are kept in a Secret.
type secretOptions struct {
	options ini.File
	// user are those of them that users have set.
	user ini.File
	// derived are options that follow from the others, which override them.
	derived ini.File
	// repeated has the values of the options of the user that stand several times.
	repeated ini.Repeated
	// sources are the UIDs of the Secrets that the options come from.
	sources []types.UID
}

// copied returns the immutable Secret from which pods read the options, nil if no Secret
// provides any. A change of the original only reaches pods after the image has read it.
// The options are rendered again so that oslo.config reads exactly what was checked here.
// Like the ConfigMap, the Secret is named after its content. The hash is keyed with the
// UIDs of the originals, which are only known to those who may read them.
func (o secretOptions) copied(p *service.Pass) (*corev1.Secret, error) {
	if len(o.sources) == 0 {
		return nil, nil //nolint:nilnil // Absence is not an error.
	}
	data, err := o.render(o.all())
	if err != nil {
		return nil, err
	}
	copied := &corev1.Secret{ObjectMeta: p.Meta(""), Immutable: ptr.To(true), Type: corev1.SecretTypeOpaque, Data: data}
	copied.Name = o.name(p, data)
	copied.Labels[config.BaseLabel] = config.BaseLabelValue(p.Named(secretBase))
	return copied, nil
}

// given returns the name that the Secret would have without the derived options.
func (o secretOptions) given(p *service.Pass) (string, error) {
	data, err := o.render(o.options)
	if err != nil {
		return "", err
	}
	return o.name(p, data), nil
}

// all returns the options with the derived ones.
func (o secretOptions) all() ini.File { return o.derived.Merge(o.options) }

func (o secretOptions) render(options ini.File) (map[string][]byte, error) {
	content, err := options.RenderRepeated(o.repeated)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", secretFile, err)
	}
	return map[string][]byte{secretFile: []byte(content)}, nil
}

// name returns the name of the Secret with that content.
func (o secretOptions) name(p *service.Pass, data map[string][]byte) string {
	keys := make([]string, 0, len(o.sources))
	for _, source := range o.sources {
		keys = append(keys, string(source))
	}
	keyed := &corev1.Secret{Data: data}
	keyed.UID = types.UID(strings.Join(keys, "/"))
	return p.Named(secretBase) + "-" + secrets.ContentHash(keyed)
}

// hide redacts the values of the user's options in the output of tools: any of them may
// be secret.
func hide(p *service.Pass, options ini.File, repeated ini.Repeated) {
	for _, section := range options {
		hideValues(p, maps.Values(section))
	}
	for _, section := range repeated {
		for _, values := range section {
			hideValues(p, slices.Values(values))
		}
	}
}

func hideValues(p *service.Pass, values iter.Seq[string]) {
	for value := range values {
		if len(value) >= minSecretValue {
			p.Hide(value)
		}
	}
}
