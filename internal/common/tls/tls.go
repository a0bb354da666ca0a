// Package tls keeps cert-manager Certificates as declared.
package tls

import (
	"context"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// EnsureCertificate makes the Certificate carry the declared fields and
// reports whether cert-manager has issued it for the current spec.
func EnsureCertificate(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, cert *certmanagerv1.Certificate,
) (bool, error) {
	if err := apply.EnsureObject(ctx, c, scheme, owner, cert, apply.FieldManager); err != nil {
		return false, err
	}
	for _, condition := range cert.Status.Conditions {
		if condition.Type == certmanagerv1.CertificateConditionReady {
			return condition.Status == cmmeta.ConditionTrue && condition.ObservedGeneration >= cert.Generation, nil
		}
	}
	return false, nil
}
