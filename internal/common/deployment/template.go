package deployment

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/service"
)

// unmeshed are labels and annotations with which service meshes add no container to a pod:
// it would keep the pod of a task from ending. See
// https://istio.io/latest/docs/reference/config/labels/#SidecarInject,
// https://linkerd.io/2/reference/proxy-configuration/,
// https://kuma.io/docs/latest/reference/kubernetes-annotations/ and
// https://developer.hashicorp.com/consul/docs/k8s/annotations-and-labels.
var unmeshed = struct{ labels, annotations map[string]string }{
	labels: map[string]string{"sidecar.istio.io/inject": "false", "kuma.io/sidecar-injection": "disabled"},
	annotations: map[string]string{
		"sidecar.istio.io/inject": "false", "kuma.io/sidecar-injection": "disabled",
		"linkerd.io/inject": "disabled", "consul.hashicorp.com/connect-inject": "false",
	},
}

// TaskMeta returns the metadata of the pods of a Job or CronJob that run the image. The
// annotations may be nil.
func (p Pods) TaskMeta(d *service.Definition, instance, component, image string, annotations map[string]string) metav1.ObjectMeta {
	meta := p.meta(d.TaskLabels(instance, component), requesting(image, annotations))
	maps.Copy(meta.Labels, unmeshed.labels)
	maps.Copy(meta.Annotations, unmeshed.annotations)
	return meta
}

// meta adds the labels and annotations of the operator to those of the users.
func (p Pods) meta(labels, annotations map[string]string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	maps.Copy(meta.Labels, p.Settings.PodLabels)
	maps.Copy(meta.Labels, labels)
	maps.Copy(meta.Annotations, p.Settings.PodAnnotations)
	maps.Copy(meta.Annotations, annotations)
	return meta
}

// requesting adds to the annotations of a pod template which image it asks for.
func requesting(image string, annotations map[string]string) map[string]string {
	all := map[string]string{apply.RequestedImage: image}
	maps.Copy(all, annotations)
	return all
}
