package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// rewritten verifies that a policy of the cluster may replace every image by one of a
// mirror, without the tag: nothing is known from the image of an object.
func (s suite[T]) rewritten(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	old, next := i.tag(), after(i.tag(), 1)
	i.rewriteImages(next)
	i.Create()
	i.installed(old)
	i.settle()
	i.restart()
	i.settle()
	if writes := i.Operator.Requests.All().Writes(); len(writes) > 0 {
		t.Errorf("a restart took %d writes:\n%s", len(writes), writes)
	}
	i.imageComesBack()
	if !s.hasData() {
		i.setTag(next)
		i.installed(next)
		return
	}

	pod := i.apiPod("before")
	objects.Create(t, s.Admin, pod)
	i.setDeployment(standin.Hang())
	i.setTag(next)
	i.inPhase(commonv1.UpgradePhaseRollingUpdate)
	i.setDeployment(standin.Succeed())
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment, "pod "+pod.Name+" of release "+old)
	objects.Create(t, s.Admin, i.apiPod("after"))
	objects.Delete(t, s.Admin, pod, client.GracePeriodSeconds(0))
	i.installed(next)
	i.settle()
}

// imageComesBack changes the image of the API pods by hand, and waits for the rewritten one.
func (i *Instance[T]) imageComesBack() {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	rewritten := deploy.Spec.Template.Spec.Containers[0].Image
	objects.Change(i.T, i.Admin, deploy, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = "example.com/other@sha256:" + strings.Repeat("e", 64)
	})
	expect.Object(i.T, i.Admin, deploy, func() error {
		if got := deploy.Spec.Template.Spec.Containers[0].Image; got != rewritten {
			return fmt.Errorf("the image is %s, expected %s", got, rewritten)
		}
		return nil
	})
	i.Ready()
	i.settle()
}

// apiPod returns a pod as the Deployment controller makes it.
func (i *Instance[T]) apiPod(suffix string) *corev1.Pod {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	template := deploy.Spec.Template
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: i.namespace(), Name: i.name() + "-" + suffix, Labels: template.Labels, Annotations: template.Annotations,
		},
		Spec: template.Spec,
	}
}

// Images to which the policy of [Instance.rewriteImages] changes others.
var (
	rewrittenOld  = "mirror.example.com/image@sha256:" + strings.Repeat("a", 64)
	rewrittenNext = "mirror.example.com/image@sha256:" + strings.Repeat("b", 64)
)

// rewriteImages makes the API server replace the images of everything in the namespace that
// runs or makes pods, those with the tag by another one. It returns when that works.
func (i *Instance[T]) rewriteImages(tag string) {
	i.Helper()
	var mutations []any
	for path, kinds := range map[string]string{
		"spec": "['pods']", "spec.template.spec": "['deployments', 'jobs']", "spec.jobTemplate.spec.template.spec": "['cronjobs']",
	} {
		mutations = append(mutations, map[string]any{
			"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": rewriting(path, kinds, tag)},
		})
	}
	name := "rewrite-images-in-" + i.namespace()
	i.policy("MutatingAdmissionPolicy", name, map[string]any{
		"failurePolicy": "Fail", "reinvocationPolicy": "Never", "mutations": mutations,
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
			"apiGroups": []any{"", "apps", "batch"}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE", "UPDATE"},
			"resources": []any{"pods", "deployments", "jobs", "cronjobs"},
		}}},
	})
	i.bind(name)
	expect.Eventually(i.T, "images that are rewritten", func(ctx context.Context) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "rewritten"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "any", Image: "example.com/image:1"}}},
		}
		if err := i.Admin.Create(ctx, pod, client.DryRunAll); err != nil {
			return err
		}
		if got := pod.Spec.Containers[0].Image; got != rewrittenOld {
			return fmt.Errorf("the image is %s", got)
		}
		return nil
	})
}

// rewriting is the expression that rewrites the images of a pod spec at the path, unless
// they have a digest.
func rewriting(path, kinds, tag string) string {
	images := func(containers string) string {
		image := fmt.Sprintf("object.%s.%s[0].image", path, containers)
		return fmt.Sprintf(`[JSONPatch{op: "replace", path: "/%s/%s/0/image", value: %s.endsWith(":%s") ? "%s" : "%s"}]`,
			strings.ReplaceAll(path, ".", "/"), containers, image, tag, rewrittenNext, rewrittenOld)
	}
	return fmt.Sprintf(`request.resource.resource in %[1]s && !object.%[2]s.containers[0].image.contains("@") ?
		%[3]s + (has(object.%[2]s.initContainers) && size(object.%[2]s.initContainers) > 0 ? %[4]s : []) : []`,
		kinds, path, images("containers"), images("initContainers"))
}

// bind makes the policy act on the namespace.
func (i *Instance[T]) bind(name string) {
	i.Helper()
	i.policy("MutatingAdmissionPolicyBinding", name, map[string]any{
		"policyName": name, "matchResources": map[string]any{"namespaceSelector": map[string]any{
			"matchLabels": map[string]any{corev1.LabelMetadataName: i.namespace()},
		}},
	})
}

// policy creates a policy of the API server or its binding, and deletes it after the test.
func (i *Instance[T]) policy(kind, name string, spec map[string]any) {
	i.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
	obj.SetName(name)
	objects.Create(i.T, i.Admin, obj)
	i.Cleanup(func() {
		if err := i.Admin.Delete(context.Background(), obj); client.IgnoreNotFound(err) != nil {
			i.Error(err)
		}
	})
}
