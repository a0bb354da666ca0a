// Package collect reads what goes into a support bundle.
package collect

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/bundle"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Contents reads everything about the session's namespace except the pages. What the
// user may not read is a gap.
func Contents(ctx context.Context, s *kube.Session, found *inventory.Inventory, lines int64) (bundle.Contents, error) {
	contents := bundle.Contents{Inventory: found, Pages: map[string]string{}}
	var configMaps corev1.ConfigMapList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&configMaps, &secrets} {
		err := kube.Explain(s.List(ctx, list, client.InNamespace(s.Namespace)))
		var missing *kube.MissingRightError
		switch {
		case errors.As(err, &missing):
			contents.Gaps = append(contents.Gaps, missing.Error())
		case err != nil:
			return contents, err
		}
	}
	contents.ConfigMaps, contents.Secrets = configMaps.Items, secrets.Items
	contents.Logs = logs(ctx, s, found.Pods, lines)
	return contents, nil
}

// logs reads the logs of all containers, and those of the instances before their
// last restart.
func logs(ctx context.Context, s *kube.Session, pods []corev1.Pod, lines int64) []bundle.Log {
	var all []bundle.Log
	for i := range pods {
		pod := &pods[i]
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			request := kube.LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: status.Name, Lines: lines}
			all = append(all, readLog(ctx, s, request))
			if status.RestartCount > 0 {
				request.Previous = true
				all = append(all, readLog(ctx, s, request))
			}
		}
	}
	return all
}

func readLog(ctx context.Context, s *kube.Session, request kube.LogRequest) bundle.Log {
	content, err := s.Logs.Read(ctx, request)
	if apierrors.IsForbidden(err) {
		err = kube.Explain(err)
	}
	return bundle.Log{Pod: request.Pod, Container: request.Container, Previous: request.Previous, Content: content, Err: err}
}
