package services

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// isRestart reports whether Keystone has not answered about a subject since the operator
// was started, which is no news about what was True before.
func isRestart(s *pass.Pass, err error, subject, conditionType string) bool {
	return errors.Is(err, identity.ErrAsking) && !s.Proofs.Remembers(s.Name, subject) &&
		meta.IsStatusConditionTrue(s.CP.Status.Conditions, conditionType)
}

// reach is what to do when Keystone gives the operator no usable answer.
func reach(s *pass.Pass, err error) string {
	if errors.Is(err, identity.ErrPassword) {
		return fmt.Sprintf("correct the administrator's password in Secret %s, or set the one in Keystone to it", s.CP.AdminSecretRef().Name)
	}
	return "let the operator reach " + controlplane.AuthURL(s.CP)
}
