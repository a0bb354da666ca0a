// Package appcredential manages the administrator's application credential: K-ORC makes
// it, External Secrets brings it to its users, and Keystone is asked whether it works and
// to revoke the one that it replaces.
package appcredential

import (
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// keyValue is where K-ORC reads the secret of an application credential.
const keyValue = "value"

// Credential is what the step that makes the credential hands to the one that
// brings it to its users.
var Credential = reconcile.NewSlot[Held]("ApplicationCredential")

// Held is the application credential of a control plane as a pass has left it.
type Held struct {
	// credential is its Secret, push and delivery are the objects that carry that to the
	// users, and applicationCredential is its K-ORC object.
	credential            *corev1.Secret
	push                  *esov1alpha1.PushSecret
	delivery              *esov1.ExternalSecret
	applicationCredential *orcv1alpha1.ApplicationCredential
}

// manager keeps the application credential of a control plane in one step of a pass.
type manager struct {
	*pass.Pass
	Held
	adminPassword string
	imports       []korc.Object
	// again is how soon to look again, zero for no wish.
	again time.Duration
}

// lookAgain asks for the next pass in d at the latest, zero for no such wish.
func (m *manager) lookAgain(d time.Duration) { m.again = pass.Sooner(m.again, d) }
