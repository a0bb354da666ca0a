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

// whereInTransit returns where the clouds.yaml of the Secret is.
func whereInTransit(ctx context.Context, s *secret) (transit, error) {
	broken, err := secrets.BrokenStore(ctx, s.Kinds, s.ThirdParty)
	if err != nil {
		return transit{}, err
	}
	push := secrets.PushStateOf(s.push)
	switch {
	case broken != "":
		return transit{reason: c5c3v1alpha1.ReasonSecretStoreNotReady, message: fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the clouds.yaml cannot reach Secret %s; repair the store or the backend behind it",
			broken, s.delivery.Name)}, nil
	case !push.Synced:
		return transit{reason: c5c3v1alpha1.ReasonWaitingForPushSecret, message: detailed(fmt.Sprintf(
			"PushSecret %s has not stored the clouds.yaml at %s yet; if this persists, repair the store; a path that something else wrote needs "+
				"the custom metadata managed-by=external-secrets",
			s.push.Name, controlplane.CredentialPath(s.Cluster, s.CP)), push.Message)}, nil
	}
	for _, condition := range s.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return transit{reason: c5c3v1alpha1.ReasonWaitingForCloudsYaml, message: detailed(
				fmt.Sprintf("ExternalSecret %s has not delivered its Secret", s.delivery.Name), condition.Message)}, nil
		}
	}
	return transit{
		fetched: true, reason: c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		message: fmt.Sprintf("Secret %s does not hold the current clouds.yaml yet", s.delivery.Name),
	}, nil
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}
