package keys

import (
	"fmt"
	"time"

	"github.com/c5c3/forge/internal/common/fernet"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// holdTokenKeys holds a rotation that would invalidate tokens before they expire.
func holdTokenKeys(s *pass.Scope, r stagedRotation) hold {
	until := r.history.SafeAt(r.current.Data, r.staging.Data, r.use)
	primary, _ := fernet.PrimaryName(r.current.Data)
	acknowledgement := fernet.ID(r.current.Data[primary])
	if !s.Now().Before(until) || s.Resource.Annotations[keystonev1alpha1.AnnotationApplyHeldRotation] == acknowledgement {
		return hold{}
	}
	why := "because tokens signed with a key that it removes are still valid"
	if until.Equal(r.history.PropagatedAt(r.current.Data, s.Own.Propagation)) {
		why = "because pods may not have received the promoted key yet"
	}
	return hold{until: until, reason: fmt.Sprintf(
		"until %s, %s; to apply it at once, at the cost of those tokens, annotate the Keystone with %s=%s",
		until.UTC().Format(time.RFC3339), why, keystonev1alpha1.AnnotationApplyHeldRotation, acknowledgement)}
}

// holdCredentialKeys holds a rotation until no credential needs an older key than the
// primary one. Users cannot override it: it ends without intervention, and promoting
// earlier would make credentials unreadable.
func holdCredentialKeys(s *pass.Scope, r stagedRotation) hold {
	if until := r.history.SafeAt(r.current.Data, r.staging.Data, r.use); s.Now().Before(until) {
		return hold{until: until, reason: fmt.Sprintf(
			"until %s, because pods may not have received the keys in use yet", until.UTC().Format(time.RFC3339))}
	}
	if r.history.Rotated() && !r.history.Primary(r.current.Data).Migrated {
		return hold{reason: fmt.Sprintf(
			"until Job %s has encrypted all credentials with the key of the previous rotation", credentialMigrateName(s.Resource))}
	}
	return hold{}
}
