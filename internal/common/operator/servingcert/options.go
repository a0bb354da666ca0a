package servingcert

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
)

const (
	// DefaultValidity is how long a certificate is valid unless the user decides.
	DefaultValidity = 90 * 24 * time.Hour
	// DefaultSettle is the wait between trust and use. API servers learn of a webhook
	// configuration by a watch, normally within milliseconds.
	DefaultSettle = 10 * time.Second
)

// Options says which certificate to maintain and who has to trust it.
type Options struct {
	// Namespace holds the Secret and the Service.
	Namespace string
	// SecretName is the Secret that holds the certificate. The rotator creates
	// it if it is missing and adopts one that cert-manager left behind.
	SecretName string
	// ServiceName is the Service through which API servers reach the webhooks. The
	// certificate is issued for its DNS names, and it owns the Secret.
	ServiceName string
	// Cluster has the domain that the full DNS name of the Service ends in.
	Cluster cluster.Settings
	// MutatingName and ValidatingName are the webhook configurations whose
	// caBundle is kept up to date. Both must exist.
	MutatingName, ValidatingName string
	// Labels are put on the Secret when the rotator creates it.
	Labels map[string]string
	// Validity is how long a certificate is valid; it is renewed when a third
	// of that is left.
	Validity time.Duration
	// Settle is how long a renewed certificate has to be trusted before it is
	// served.
	Settle time.Duration
}

// selection limits the cache to the three objects, each selected by its name.
func (o *Options) selection() map[client.Object]cache.ByObject {
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{o.Namespace: {FieldSelector: named(o.SecretName)}},
		},
		&admissionv1.MutatingWebhookConfiguration{}:   {Field: named(o.MutatingName)},
		&admissionv1.ValidatingWebhookConfiguration{}: {Field: named(o.ValidatingName)},
	}
}
