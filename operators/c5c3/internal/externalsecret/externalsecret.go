// Package externalsecret delivers Secrets from the secret store to the namespace of a
// control plane.
package externalsecret

import (
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// refreshInterval is how often External Secrets checks the store for changes.
const refreshInterval = time.Hour

// New returns an ExternalSecret that fetches properties of one path into a Secret of the
// same name.
func New(cp *c5c3v1alpha1.ControlPlane, d Delivery) *esov1.ExternalSecret {
	data := make([]esov1.ExternalSecretData, 0, len(d.Properties))
	for _, property := range d.Properties {
		data = append(data, esov1.ExternalSecretData{
			SecretKey: property, RemoteRef: esov1.ExternalSecretDataRemoteRef{
				Key: d.Path, Property: property,
				// The API server's defaults are set explicitly because the list is
				// compared as a whole.
				ConversionStrategy: esov1.ExternalSecretConversionDefault, DecodingStrategy: esov1.ExternalSecretDecodeNone,
				MetadataPolicy: esov1.ExternalSecretMetadataPolicyNone,
			},
		})
	}
	return &esov1.ExternalSecret{
		ObjectMeta: controlplane.ChildMeta(cp, d.Name),
		Spec: esov1.ExternalSecretSpec{
			SecretStoreRef:  esov1.SecretStoreRef{Name: secrets.StoreName, Kind: esov1.ClusterSecretStoreKind},
			RefreshInterval: &metav1.Duration{Duration: refreshInterval},
			Target:          esov1.ExternalSecretTarget{Name: d.Name, CreationPolicy: esov1.CreatePolicyOwner},
			Data:            data,
		},
	}
}

// Delivery is a Secret that External Secrets delivers from the secret store.
type Delivery struct {
	// Name is the name of the ExternalSecret and of the Secret.
	Name string
	// Path is the path of the properties in the store.
	Path       string
	Properties []string
}
