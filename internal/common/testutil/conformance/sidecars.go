package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
)

// sidecars verifies that a Job is done when its own container is, also if something adds a
// container to each pod that never ends, and that its pod is ended then.
func (s suite[T]) sidecars(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	i.addSidecars()
	i.Create()
	i.Ready()
	i.podsEnd()
	i.settle()
	before := i.jobs()
	i.restart()
	i.settle()
	i.Ready()
	if diff := cmp.Diff(before, i.jobs()); diff != "" {
		t.Errorf("Jobs (-before +after the restart):\n%s", diff)
	}
}

// podsEnd waits until no pod of a task is left.
func (i *Instance[T]) podsEnd() {
	i.Helper()
	expect.Eventually(i.T, "the end of the pods of Jobs", func(ctx context.Context) error {
		var list corev1.PodList
		err := i.Admin.List(ctx, &list, client.InNamespace(i.namespace()),
			client.MatchingLabels{service.LabelName: i.Definition.TaskName()})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("%s runs", list.Items[0].Name)
		}
		return err
	})
}

// jobs maps the Jobs of the namespace to their UIDs.
func (i *Instance[T]) jobs() map[string]types.UID {
	i.Helper()
	var list batchv1.JobList
	if err := i.Admin.List(i.Context(), &list, client.InNamespace(i.namespace())); err != nil {
		i.Fatal(err)
	}
	all := map[string]types.UID{}
	for _, job := range list.Items {
		all[job.Name] = job.UID
	}
	return all
}

// addSidecars makes the API server add a container to each pod of the namespace, and
// returns when that works.
func (i *Instance[T]) addSidecars() {
	i.Helper()
	name := "add-sidecars-in-" + i.namespace()
	i.policy("MutatingAdmissionPolicy", name, map[string]any{
		"failurePolicy": "Fail", "reinvocationPolicy": "Never",
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"pods"},
		}}},
		"mutations": []any{map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{
			"expression": fmt.Sprintf(`Object{spec: Object.spec{containers: [Object.spec.containers{name: %q, image: "example.com/mesh:1"}]}}`,
				standin.Sidecar),
		}}},
	})
	i.bind(name)
	expect.Eventually(i.T, "sidecars", func(ctx context.Context) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "any"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "any", Image: "example.com/image:1"}}},
		}
		err := i.Admin.Create(ctx, pod, client.DryRunAll)
		if err == nil && len(pod.Spec.Containers) != 2 {
			err = fmt.Errorf("the pod has %d containers", len(pod.Spec.Containers))
		}
		return err
	})
}
