// Package appcredential manages the administrator's application credential: K-ORC creates
// it, External Secrets delivers it to its users, and the operator verifies it with
// Keystone and revokes the one that it replaces.
package appcredential

import (
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// keyValue is the key from which K-ORC reads the secret of an application credential.
const keyValue = "value"

// Credential is handed from the step that creates the credential to the one that delivers
// it to its users.
var Credential = reconcile.NewSlot[Held]("ApplicationCredential")

// Held is the application credential of a control plane in a pass.
type Held struct {
	// credential is its Secret, push and delivery are the objects that deliver that
	// Secret to the users, and applicationCredential is the K-ORC object.
	credential            *corev1.Secret
	push                  *esov1alpha1.PushSecret
	delivery              *esov1.ExternalSecret
	applicationCredential *orcv1alpha1.ApplicationCredential
}

// manager manages the application credential of a control plane in one step of a pass.
type manager struct {
	*pass.Pass
	Held
	adminPassword string
	imports       []korc.Object
}
