package pass

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
)

// What the steps hand to each other, in addition to what those of every service do.
var (
	// AdminPassword is the administrator's password that the spec refers to, set by
	// Secrets.
	AdminPassword = reconcile.NewSlot[redact.Bytes]("AdminPassword")
	// BootstrapJob is the Job that set the administrator's password of this pass in
	// Keystone. Bootstrap sets it.
	BootstrapJob = reconcile.NewSlot[*batchv1.Job]("BootstrapJob")
	// PasswordRefused is true if Keystone's own rules refuse the administrator's password
	// of this pass. Bootstrap sets it.
	PasswordRefused = reconcile.NewSlot[bool]("PasswordRefused")
)
