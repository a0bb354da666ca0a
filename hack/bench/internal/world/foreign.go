package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/hack/bench/internal/objects"
)

// foreignNamespace holds objects that do not concern the operator.
const foreignNamespace = "somebody-elses"

// foreignSize is how many bytes a foreign Secret has.
const foreignSize = 2048

// CreateForeign creates n Secrets, and as many Pods, that are unrelated
// to any resource.
func (w *World) CreateForeign(ctx context.Context, n int) error {
	if err := objects.Create(ctx, w.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: foreignNamespace}}); err != nil {
		return err
	}
	return objects.Each(ctx, n, func(ctx context.Context, i int) error {
		meta := metav1.ObjectMeta{
			Namespace: foreignNamespace, Name: fmt.Sprintf("foreign-%d", i),
			Labels: map[string]string{"app.kubernetes.io/name": "something", "app.kubernetes.io/managed-by": "somebody"},
		}
		secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"data": make([]byte, foreignSize)}}
		if err := objects.Create(ctx, w.Client, secret); err != nil {
			return err
		}
		return objects.Create(ctx, w.Client, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/something:1"}},
		}})
	})
}
