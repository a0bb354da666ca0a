package doctor

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// checkOperators also finds what is left of an operator that does not run, if the user may read that. Its webhooks refuse the
// removal of finalizers, too.
func (e *examination) checkOperators(ctx context.Context) error {
	var deployments appsv1.DeploymentList
	if err := e.List(ctx, &deployments, client.HasLabels{labelName}); err != nil {
		return err
	}
	webhooks := map[string]bool{}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := e.List(ctx, list, client.HasLabels{labelName}); err != nil && !kube.IsMissingRight(err) {
			return err
		}
		for i := range list.Items {
			webhooks[list.Items[i].Labels[labelName]] = true
		}
	}
	for _, kind := range own {
		app := inventory.OperatorOf(kind.Kind)
		name := "Operator " + app
		i := slices.IndexFunc(deployments.Items, func(d appsv1.Deployment) bool { return d.Labels[labelName] == app })
		common := slices.IndexFunc(deployments.Items, func(d appsv1.Deployment) bool { return runsOperatorOf(&d, kind.Kind) })
		switch {
		case i >= 0:
			e.checkOperator(name, &deployments.Items[i])
		case webhooks[app]:
			e.add(name, check.Failed, "it has no Deployment, but its webhooks are left, and refuse every change of a %s: install the "+
				"chart %s again, or delete them: kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations "+
				"-l app.kubernetes.io/name=%[2]s", kind.Kind, app)
		case common >= 0:
			e.checkOperator(name, &deployments.Items[common])
		case webhooks[inventory.CommonOperator] && e.serves(kind):
			e.add(name, check.Failed, "it has no Deployment, but webhooks of the chart %s are left, which may refuse every change of a %s: "+
				"install the chart again, or delete them: kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations "+
				"-l app.kubernetes.io/name=%[1]s", inventory.CommonOperator, kind.Kind)
		case e.serves(kind):
			e.add(name, check.Failed, "it has no Deployment: install the chart %s to use or to delete a %s", app, kind.Kind)
		default:
			e.add(name, check.Warning, "it has no Deployment: install the chart %s to use a %s", app, kind.Kind)
		}
	}
	return nil
}

// runsOperatorOf reports whether the Deployment is the program of all services, and runs the operator of the kind.
func runsOperatorOf(d *appsv1.Deployment, kind string) bool {
	const flag = "--services="
	return d.Labels[labelName] == inventory.CommonOperator &&
		slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(container corev1.Container) bool {
			return slices.ContainsFunc(container.Args, func(arg string) bool {
				services, found := strings.CutPrefix(arg, flag)
				return found && slices.Contains(strings.Split(services, ","), strings.ToLower(kind))
			})
		})
}

func (e *examination) checkOperator(name string, d *appsv1.Deployment) {
	if d.Status.ReadyReplicas == 0 {
		e.add(name, check.Failed, "no pod is ready: kubectl -n %s describe deployment %s", d.Namespace, d.Name)
		return
	}
	var images []string
	for _, container := range d.Spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	e.add(name, check.OK, "%d of %d pods ready in namespace %s, %s",
		d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1), d.Namespace, strings.Join(images, ", "))
}
