package testutil

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// CredentialInUse returns the application credential that the users of a namespace's
// control plane have, both values empty while they have the password.
func CredentialInUse(ctx context.Context, c client.Reader, namespace string) (id, secret string, err error) {
	stored := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: c5c3v1alpha1.DefaultCloudsSecret}, stored); err != nil {
		return "", "", err
	}
	var parsed struct {
		Clouds map[string]struct {
			Auth map[string]string `json:"auth"`
		} `json:"clouds"`
	}
	if err := yaml.Unmarshal(stored.Data["clouds.yaml"], &parsed); err != nil {
		return "", "", err
	}
	for _, cloud := range parsed.Clouds {
		id, secret = cloud.Auth["application_credential_id"], cloud.Auth["application_credential_secret"]
	}
	return id, secret, nil
}
