package keys

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/rotation"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Family is what differs between the keys that sign tokens and the keys that encrypt
// credentials.
type Family struct {
	keysecret.Keys

	maxActive func(*keystonev1alpha1.Keystone) int32
	available string
	generated string

	// metric is the family's value of the label key_type.
	metric string
	// rotated is the reason, and the event, of a promoted rotation.
	rotated string
	// hold returns why and until when staged keys must wait.
	hold func(s *pass.Scope, r stagedRotation) hold
	// lifetime returns how long tokens or ciphertexts of a key stay in use; ok is false
	// if the configuration is unknown.
	lifetime func(s *pass.Scope) (lifetime time.Duration, ok bool)
	// rotation is the CronJob that generates new keys.
	rotation keyRotation
}

// keyRotation is what differs between the CronJobs of the two families.
type keyRotation struct {
	// name is the suffix of the CronJob and of the objects around it.
	name   string
	does   string
	script string
	// volume is the name of the volume with the keys, directory the path from which
	// Keystone reads them.
	volume    string
	directory string
	maxActive string
	schedule  func(*keystonev1alpha1.Keystone) (schedule string, suspend bool)
	// others mounts the keys of the other family.
	others func(name string) deployment.Mount
	// migrate runs when everything is in place. It is nil if a rotation leaves nothing to
	// migrate.
	migrate func(ctx context.Context, s *pass.Scope) (migration, error)
}

// reportAge exports how long the primary key has been in use.
func (f Family) reportAge(s *pass.Scope, secret *corev1.Secret) {
	since := historyOf(secret).Primary(secret.Data).Since
	if at, ok, err := rotation.CompletedAt(secret); ok && err == nil {
		since = at
	}
	if since.IsZero() {
		since = secret.CreationTimestamp.Time
	}
	s.Own.Lifetimes.Age.Set(client.ObjectKeyFromObject(s.Resource), f.metric, since)
}

// MaxActive returns the value of Keystone's option max_active_keys for that of the spec.
func MaxActive(maxActive int32) string {
	return strconv.Itoa(int(fernet.Normalise(maxActive)))
}
