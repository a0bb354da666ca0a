package appcredential

import (
	"context"
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// transit is where on its way to its users the clouds.yaml is.
type transit struct {
	reason, message string
	// fetched reports that External Secrets has delivered what it found in the store.
	fetched bool
}

func (d *delivery) whereInTransit(ctx context.Context) (transit, error) {
	broken, err := secrets.BrokenStore(ctx, d.Kinds, d.ThirdParty)
	if err != nil {
		return transit{}, err
	}
	push := secrets.PushStateOf(d.secret.push)
	switch {
	case broken != "":
		return transit{reason: c5c3v1alpha1.ReasonSecretStoreNotReady, message: fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the clouds.yaml cannot reach Secret %s; repair the store or the backend behind it",
			broken, d.secret.delivery.Name)}, nil
	case !push.Synced:
		return transit{reason: c5c3v1alpha1.ReasonWaitingForPushSecret, message: detailed(fmt.Sprintf(
			"PushSecret %s has not stored the clouds.yaml at %s yet; if this persists, repair the store; a path that something else wrote needs "+
				"the custom metadata managed-by=external-secrets",
			d.secret.push.Name, controlplane.CredentialPath(d.Cluster, d.CP)), push.Message)}, nil
	}
	for _, condition := range d.secret.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return transit{reason: c5c3v1alpha1.ReasonWaitingForCloudsYaml, message: detailed(
				fmt.Sprintf("ExternalSecret %s has not delivered its Secret", d.secret.delivery.Name), condition.Message)}, nil
		}
	}
	return transit{
		fetched: true, reason: c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		message: fmt.Sprintf("Secret %s does not hold the current clouds.yaml yet", d.secret.delivery.Name),
	}, nil
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}
