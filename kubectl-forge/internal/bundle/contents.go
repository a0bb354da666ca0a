package bundle

import (
	"context"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Contents is everything that goes into an archive.
type Contents struct {
	Inventory *inventory.Inventory
	// ConfigMaps are those of the namespace.
	ConfigMaps []corev1.ConfigMap
	// Secrets are described without their values, and their values are redacted
	// in everything else.
	Secrets []corev1.Secret
	// Logs are those of the containers, by file name, and Pages the outputs of other commands.
	Logs, Pages map[string]string
}

// Read reads everything about the session's namespace except the pages. What the
// user may not read is a gap of the inventory.
func Read(ctx context.Context, s *kube.Session, found *inventory.Inventory, lines int64) (Contents, error) {
	var configMaps corev1.ConfigMapList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&configMaps, &secrets} {
		if _, err := kube.ListVisible(ctx, s, list, &found.Gaps, client.InNamespace(s.Namespace)); err != nil {
			return Contents{}, err
		}
	}
	return Contents{
		Inventory: found, ConfigMaps: configMaps.Items, Secrets: secrets.Items, Logs: logs(ctx, s, found.Pods, lines), Pages: map[string]string{},
	}, nil
}

// logs reads the logs of all containers, and those of the instances before their
// last restart.
func logs(ctx context.Context, s *kube.Session, pods []corev1.Pod, lines int64) map[string]string {
	all := map[string]string{}
	for i := range pods {
		pod := &pods[i]
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			request := kube.LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: status.Name, Lines: lines}
			all[path.Join("logs", pod.Name, status.Name+".log")] = readLog(ctx, s, request)
			if request.Previous = true; status.RestartCount > 0 {
				all[path.Join("logs", pod.Name, status.Name+".previous.log")] = readLog(ctx, s, request)
			}
		}
	}
	return all
}

func readLog(ctx context.Context, s *kube.Session, request kube.LogRequest) string {
	content, err := s.Logs.Read(ctx, request)
	if err != nil {
		content += fmt.Sprintf("could not be read: %s\n", err)
	}
	return content
}
