package backup

import (
	"bytes"
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// replace replaces the databases and the keys. Each step can be repeated.
func (r *restore) replace(ctx context.Context, target server, found bundle) error {
	// Tables of a later release would otherwise stay.
	if err := r.statements(ctx, target, dropName(r.CP), dropping(r.all.Databases(r.CP)), restoring); err != nil {
		return err
	}
	if err := r.load(ctx, loadName(r.CP), r.CP.Spec.Infrastructure.Database.ClusterRef.Name, restoring); err != nil {
		return err
	}
	all := map[string]keySet{
		controlplane.TokenKeysName(r.CP): found.TokenKeys, controlplane.CredentialKeysName(r.CP): found.CredentialKeys,
	}
	// Whoever can write to the storage could put other names into the backup.
	for _, name := range r.all.KeySecrets(r.CP) {
		if keys, stored := found.ServiceKeys[name]; stored {
			all[name] = keys
		}
	}
	for name, keys := range all {
		if err := r.replaceKeys(ctx, name, keys.data()); err != nil {
			return err
		}
	}
	return r.all.RunAgain(ctx, r.Pass, r.request)
}

// replaceKeys gives a key Secret the keys. The service's operator repairs a Secret that is
// edited, and adopts a new one.
func (r *restore) replaceKeys(ctx context.Context, name string, keys map[string][]byte) error {
	live, err := r.Owned.FindUncached(ctx, pass.Key(r.Pass, name))
	if err != nil {
		return err
	}
	if live != nil {
		if maps.EqualFunc(live.Data, keys, bytes.Equal) {
			return nil
		}
		if err := apply.DeleteUnchanged(ctx, r.Client, live); err != nil {
			return err
		}
	}
	return apply.Create(ctx, r.Client, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.CP.Namespace, Name: name}, Type: corev1.SecretTypeOpaque, Data: keys,
	})
}
