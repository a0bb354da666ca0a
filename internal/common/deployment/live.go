package deployment

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/service"
)

// Live returns the instance's API Deployment, nil if none is controlled by the resource.
func Live(ctx context.Context, p *service.Pass) (*appsv1.Deployment, error) {
	live, err := apply.Find(ctx, p.Client, p.Key(p.Resource.GetName()), &appsv1.Deployment{})
	if live == nil || err != nil || !service.ControlledBy(live, p.Resource) {
		return nil, err
	}
	return live, nil
}

// APIPods lists the API pods of the instance; see [PodsWith].
func APIPods(ctx context.Context, p *service.Pass) ([]corev1.Pod, error) {
	return PodsWith(ctx, p, p.SelectorLabels(p.Resource.GetName()))
}

// EveryPodHas reports whether the rollout of the API pods has ended and all of them have the
// value of the annotation, those included that are being deleted.
func EveryPodHas(ctx context.Context, p *service.Pass, annotation, value string) (bool, error) {
	live, err := Live(ctx, p)
	if live == nil || err != nil || live.Spec.Template.Annotations[annotation] != value || !IsDeploymentReady(live) {
		return false, err
	}
	pods, err := APIPods(ctx, p)
	return err == nil && !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Annotations[annotation] != value }), err
}

// PodsWith lists the pods with the labels that have not terminated. Pods that are being
// deleted are included because they may still serve.
func PodsWith(ctx context.Context, p *service.Pass, labels map[string]string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := p.Client.List(ctx, &list, client.InNamespace(p.Resource.GetNamespace()), client.MatchingLabels(labels))
	if err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	}), nil
}

// APIImage returns the image that the operator asked for in the API container of a pod or
// a pod template, "" if there is none.
func APIImage(d *service.Definition, meta *metav1.ObjectMeta, spec *corev1.PodSpec) string {
	for i := range spec.Containers {
		if spec.Containers[i].Name == d.CodeName {
			return apply.ImageOf(meta, &spec.Containers[i])
		}
	}
	return ""
}
