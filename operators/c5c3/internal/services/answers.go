package services

import (
	"errors"
	"fmt"

	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// reach is what to do when Keystone gives the operator no usable answer.
func reach(s *pass.Pass, err error) string {
	if errors.Is(err, identity.ErrPassword) {
		return fmt.Sprintf("correct the administrator's password in Secret %s, or set the one in Keystone to it", s.CP.AdminSecretRef().Name)
	}
	return "let the operator reach " + controlplane.AuthURL(s.CP)
}
