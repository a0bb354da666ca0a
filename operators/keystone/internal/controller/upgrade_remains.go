package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
)

// podsOfLabels lists pods that have not ended, those that are being deleted
// included: they may still serve.
func (s *scope) podsOfLabels(ctx context.Context, selector map[string]string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := s.Client.List(ctx, &list, client.InNamespace(s.keystone.Namespace), client.MatchingLabels(selector))
	if err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	}), nil
}

// oldAPIPod names an API pod of another image than the wanted one, "" when
// there is none.
func (s *scope) oldAPIPod(ctx context.Context) (string, error) {
	list, err := s.podsOfLabels(ctx, selectorLabels(s.keystone))
	for i := range list {
		if old := apiImage(&list[i].Spec); old != "" && old != image(s.keystone) {
			return list[i].Name, err
		}
	}
	return "", err
}

// oldRelease names something that runs the installed release, or would start
// it, "" when there is nothing.
func (s *scope) oldRelease(ctx context.Context) (string, error) {
	if pod, err := s.oldAPIPod(ctx); pod != "" || err != nil {
		return "pod " + pod, err
	}
	list, err := s.podsOfLabels(ctx, definition.AllTasks(s.keystone.Name))
	if err != nil {
		return "", err
	}
	for i := range list {
		if s.runsInstalled(&list[i].Spec) {
			return "pod " + list[i].Name, nil
		}
	}
	var cronJobs batchv1.CronJobList
	err = s.Client.List(ctx, &cronJobs, client.InNamespace(s.keystone.Namespace), client.MatchingLabels(commonLabels(s.keystone)))
	if err != nil {
		return "", fmt.Errorf("listing the CronJobs: %w", err)
	}
	for i := range cronJobs.Items {
		if s.runsInstalled(&cronJobs.Items[i].Spec.JobTemplate.Spec.Template.Spec) {
			return "CronJob " + cronJobs.Items[i].Name, nil
		}
	}
	return "", nil
}

// runsInstalled reports whether a pod uses the image of the installed release.
func (s *scope) runsInstalled(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return c.Image != image(s.keystone) && strings.HasSuffix(c.Image, ":"+s.keystone.Status.InstalledRelease)
	})
}

// apiImage is the image of the API container, "" when there is none.
func apiImage(spec *corev1.PodSpec) string {
	for i := range spec.Containers {
		if spec.Containers[i].Name == containerName {
			return spec.Containers[i].Image
		}
	}
	return ""
}

func (s *scope) liveDeployment(ctx context.Context) (*appsv1.Deployment, error) {
	live := &appsv1.Deployment{}
	err := s.Client.Get(ctx, s.Key(s.keystone.Name), live)
	if apierrors.IsNotFound(err) || err == nil && !controlledBy(live, s.keystone) {
		return nil, nil //nolint:nilnil // Absence is not an error.
	}
	if err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", s.keystone.Name, err)
	}
	return live, nil
}

// connectionInUse is the hash of the connection that the API pods have, the
// wanted one when there are none.
func (s *scope) connectionInUse(ctx context.Context) (string, error) {
	live, err := s.liveDeployment(ctx)
	if live == nil {
		return s.connectionHash(), err
	}
	return live.Spec.Template.Annotations[annotationConnectionHash], err
}

// recoverInstalledRelease makes up for a lost status, as after a restore from a
// backup: without it a change of the release would look like a first
// installation, which contracts the schema under running pods. Pods that run
// another tag than the wanted one tell which release is installed.
func (s *scope) recoverInstalledRelease(ctx context.Context) error {
	k := s.keystone
	if k.Status.InstalledRelease != "" {
		return nil
	}
	list, err := s.podsOfLabels(ctx, selectorLabels(k))
	if err != nil {
		return err
	}
	specs := make([]*corev1.PodSpec, 0, len(list)+1)
	for i := range list {
		specs = append(specs, &list[i].Spec)
	}
	live, err := s.liveDeployment(ctx)
	if err != nil {
		return err
	}
	if live != nil {
		specs = append(specs, &live.Spec.Template.Spec)
	}
	for _, spec := range specs {
		if tag := tagOf(apiImage(spec)); tag != "" && tag != k.Spec.Image.Tag {
			k.Status.InstalledRelease = tag
			return nil
		}
	}
	return nil
}

// tagOf is the tag of an image reference without a digest, "" when it has none.
func tagOf(reference string) string {
	colon := strings.LastIndex(reference, ":")
	if colon < 0 || strings.Contains(reference[colon:], "/") {
		return ""
	}
	return reference[colon+1:]
}

// contractedRelease is the tag of the release to which the schema was
// contracted last, "" if no Job tells of one. It guards against a status that
// has lost its phase.
func (s *scope) contractedRelease(ctx context.Context) (string, error) {
	live, err := s.Jobs.Find(ctx, s.keystone, jobName(s.keystone, taskContract))
	if live == nil || err != nil || len(live.Spec.Template.Spec.Containers) == 0 {
		return "", err
	}
	return tagOf(live.Spec.Template.Spec.Containers[0].Image), nil
}

// contractionRuns reports whether a Job may still contract the schema.
func (s *scope) contractionRuns(ctx context.Context) (bool, error) {
	desired, err := taskJob(s.keystone, dbContract(s))
	if err != nil {
		return false, err
	}
	live, err := s.Jobs.FindOurs(ctx, s.keystone, desired)
	if live == nil || err != nil {
		return false, err
	}
	if ended, _, _ := job.Ended(live); ended {
		return false, nil
	}
	succeeded, err := s.Jobs.SucceededFor(ctx, live, desired)
	return !succeeded, err
}
