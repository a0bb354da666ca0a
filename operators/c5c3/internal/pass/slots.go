package pass

import (
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
)

// What the steps that work on Keystone hand to each other.
var (
	// AdminPassword is the administrator's password.
	AdminPassword = reconcile.NewSlot[string]("AdminPassword")
	// PasswordCloud is true once the Secret with the administrator's password for K-ORC
	// is the control plane's own and up to date.
	PasswordCloud = reconcile.NewSlot[bool]("PasswordCloud")
	// AdminCredential is the administrator's application credential, once Keystone has
	// accepted it.
	AdminCredential = reconcile.NewSlot[identity.Credential]("AdminCredential")
)
