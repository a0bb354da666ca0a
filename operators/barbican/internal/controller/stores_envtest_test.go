//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// configuration returns the configuration file with which the API pods run.
func configuration(ctx context.Context, namespace string) (string, error) {
	pods := &appsv1.Deployment{}
	if err := world.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "barbican"}, pods); err != nil {
		return "", err
	}
	for _, volume := range pods.Spec.Template.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.ConfigMap == nil {
				continue
			}
			files := &corev1.ConfigMap{}
			err := world.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: source.ConfigMap.Name}, files)
			return files.Data["barbican.conf"], err
		}
	}
	return "", fmt.Errorf("the pods have no configuration: %+v", pods.Spec.Template.Spec.Volumes)
}

func TestAStoreIsTheDefaultOnceAllPodsHaveIt(t *testing.T) {
	t.Parallel()
	i := conformance.Prepared(t, barbicans, &world)
	namespace := i.Resource.GetNamespace()
	i.Resource.Spec.DefaultSecretStore = "vault"
	i.Create()
	objects.Create(t, world.Admin, client.Object(credentials(namespace, "vault")), client.Object(secretStore(namespace, "vault")))
	expect.Eventually(t, "pods that store secrets there", func(ctx context.Context) error {
		file, err := configuration(ctx, namespace)
		if err == nil && !strings.Contains(file, "[secretstore:vault]\nglobal_default = true\n") {
			err = fmt.Errorf("barbican.conf is\n%s", file)
		}
		return err
	})
	i.Ready()
}
