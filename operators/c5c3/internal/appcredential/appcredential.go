// Package appcredential manages the administrator's application credential: K-ORC creates
// it, External Secrets delivers it to its users, and the operator verifies it with
// Keystone and revokes the one that it replaces.
package appcredential

import (
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"

	"github.com/c5c3/forge/internal/common/reconcile"
)

// Credential is handed from the step that creates the credential to the one that delivers
// it to its users.
var Credential = reconcile.NewSlot[Held]("ApplicationCredential")

// Held is the application credential of a control plane in a pass: its Secret and the K-ORC
// object.
type Held struct {
	*secret
	credential *orcv1alpha1.ApplicationCredential
}
