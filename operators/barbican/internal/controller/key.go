package controller

import (
	"context"
	_ "embed"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keyring"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

const (
	// keyCheckFile, among the configuration files, looks for keys of projects in the database
	// that the key-encryption key cannot read.
	keyCheckFile = "key_check.py"
	// keyDir is where it finds the Secret in the first installation of the schema.
	keyDir = "/etc/barbican/keys/"
)

//go:embed files/key_check.py
var keyCheckScript string

// format is how the plugin simple_crypto reads its keys.
var format = keyring.Format{File: "kek.conf", Section: barbicanv1alpha1.KeySection, Option: barbicanv1alpha1.KeyOption}

// keys declares the Secret with the key-encryption key. It encrypts the keys of all projects,
// and these encrypt their secrets.
var keys = keysecret.Keys{
	Name: barbicanv1alpha1.KeySecret, Needed: true, Encrypted: "the keys of projects",
	Abandon: "delete the rows of table kek_data, and those of encrypted_data that refer to them,",
	Loss:    "every stored secret becomes unreadable", Validate: format.Validate,
}

// inspection looks for keys of projects in a database that is new to the Barbican.
var inspection = keysecret.Inspection{
	Keys:    keys,
	Command: []string{"python3", configDir + keyCheckFile, "any", keyDir + format.File},
	Mount:   func(secret string) deployment.Mount { return deployment.SecretMount("keys", secret, keyDir) },
}

// rotation declares how the key is replaced.
var rotation = keyring.Rotation{
	Format: format, Keys: keys, Annotation: barbicanv1alpha1.AnnotationRotateKey,
	Since:     release.Release{Year: 2025, Minor: 1},
	Rewrap:    rewrap,
	Available: barbicanv1alpha1.ReasonKeyAvailable, Rotating: barbicanv1alpha1.ReasonKeyRotationInProgress,
	Refused: barbicanv1alpha1.ReasonKeyRotationRefused, Failed: barbicanv1alpha1.ReasonKeyRewrapFailed,
	Generated: barbicanv1alpha1.EventKeyGenerated, Rotated: barbicanv1alpha1.EventKeyRotated,
}

// rewrapScript succeeds only if the first key can read the keys of all projects. Barbican's
// tool also succeeds if it had to leave some of them as they were.
const rewrapScript = "barbican-manage simple_crypto rewrap_pkek\nexec python3 " + configDir + keyCheckFile + " first "

func rewrap(p *service.Pass) deployment.Task {
	return deployment.Task{
		Name: "key-rewrap", Container: "key-rewrap", Retries: 2, Image: scheduled.Image(p.Spec, p.Status),
		Command: shell(rewrapScript + configDir + format.File), Env: barbicanDatabase.ToolEnv(p),
		Mounts: append([]deployment.Mount{deployment.ConfigMount(p, format.Projection(keys.Of(p)))}, database.TLSMounts(p)...),
	}
}

func reconcileInstallation(ctx context.Context, s *scope) reconcile.Outcome {
	return inspection.Reconcile(ctx, s.Pass, barbicanSchema)
}
