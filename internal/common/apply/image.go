package apply

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// RequestedImage is the annotation on a pod template with the image that the operator asked
// for. Policies of a cluster may replace the images themselves by digests or by those of a
// mirror, so no image that is read back says what runs. As long as the operator owns the
// images of a template with this annotation, their values do not count as drift: an apply
// after a restart could move the pods to what the policy makes of the tag today.
const RequestedImage = "forge.c5c3.io/requested-image"

// ImageOf returns the image that the operator asked for in a container of a pod or a pod
// template with that metadata. Those of an earlier operator do not have the annotation.
func ImageOf(meta *metav1.ObjectMeta, container *corev1.Container) string {
	return cmp.Or(meta.Annotations[RequestedImage], container.Image)
}

// place is where in an object a [reader] is.
type place int

const (
	elsewhere place = iota
	// inTemplate is the spec of a pod template with the annotation.
	inTemplate
	inContainers
	inContainer
	atImage
)

// below returns the place of an element of a node.
func (p place) below(node any, element fieldpath.PathElement) place {
	if p == inContainers && element.Key != nil {
		return inContainer
	}
	if element.FieldName == nil {
		return elsewhere
	}
	field := *element.FieldName
	switch {
	case p == inTemplate && (field == "containers" || field == "initContainers"):
		return inContainers
	case p == inContainer && field == "image":
		return atImage
	case p == elsewhere && field == "spec" && hasRequestedImage(node):
		return inTemplate
	}
	return elsewhere
}

func hasRequestedImage(node any) bool {
	template, isMap := node.(map[string]any)
	if !isMap {
		return false
	}
	image, _, _ := unstructured.NestedString(template, "metadata", "annotations", RequestedImage)
	return image != ""
}
