package secrets

import (
	corev1 "k8s.io/api/core/v1"
)

// maxCachedSize is how many bytes of a Secret a cache holds. Whoever may create Secrets can
// give them an operator's label, and otherwise fill its memory. Keys, passwords and options
// take a few kilobytes.
const maxCachedSize = 64 << 10

// omittedAnnotation marks a Secret in a cache whose content was left out.
const omittedAnnotation = "forge.c5c3.io/content-omitted"

// Condense leaves the content of a large Secret out of a cache. [Owned] reads such a Secret
// from the API server.
func Condense(cached *corev1.Secret) {
	size := 0
	for _, value := range cached.Data {
		size += len(value)
	}
	for _, value := range cached.Annotations {
		size += len(value)
	}
	if size > maxCachedSize {
		cached.Data, cached.Annotations = nil, map[string]string{omittedAnnotation: "true"}
	}
}

func omitted(secret *corev1.Secret) bool {
	_, marked := secret.Annotations[omittedAnnotation]
	return marked
}
