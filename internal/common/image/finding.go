package image

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// remembered is the number of images whose findings are kept: the installed one and that
// of an upgrade, which may be aborted.
const remembered = 2

// Record keeps in the status what the pods of a Job that has succeeded have found in the
// image of the spec. Pods that are gone leave a finding that says nothing. The names are
// those of the Job's own containers.
func Record(p *service.Pass, pods []corev1.Pod, names ...string) {
	found := commonv1.ImageStatus{Reference: p.Spec.Image.Reference()}
	for i := range pods {
		if told, ok := findingOf(&pods[i], found.Reference, names); ok {
			found = told
		}
	}
	remember(p.Status, found)
}

// Checks reports whether the pods of a Job, which may be nil, look into the image.
func Checks(live *batchv1.Job, reference string) bool {
	return live != nil && checks(&live.Spec.Template.ObjectMeta, &live.Spec.Template.Spec, reference)
}

// checks reports whether a pod, or pods with the template, look into the image that was
// requested by that reference.
func checks(meta *metav1.ObjectMeta, pod *corev1.PodSpec, reference string) bool {
	return slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool {
		return c.Name == Container && apply.ImageOf(meta, &c) == reference
	})
}

// Found returns what was found in the image of that reference, nil if nobody has looked
// into it.
func Found(status *commonv1.ServiceStatus, reference string) *commonv1.ImageStatus {
	at := slices.IndexFunc(status.Images, func(known commonv1.ImageStatus) bool { return known.Reference == reference })
	if at < 0 {
		return nil
	}
	return &status.Images[at]
}

func remember(status *commonv1.ServiceStatus, found commonv1.ImageStatus) {
	if known := Found(status, found.Reference); known != nil {
		*known = found
		return
	}
	status.Images = append(status.Images, found)
	for len(status.Images) > remembered {
		oldest := 0
		if status.ImageOf(status.InstalledRelease) == &status.Images[oldest] {
			// It stays, however often the image of an upgrade changes.
			oldest = 1
		}
		status.Images = slices.Delete(status.Images, oldest, oldest+1)
	}
}

// findingOf returns what the check in the pod has found, false unless the named containers
// have succeeded with that image.
func findingOf(pod *corev1.Pod, reference string, names []string) (commonv1.ImageStatus, bool) {
	if !checks(&pod.ObjectMeta, &pod.Spec, reference) || !poddiag.Succeeded([]corev1.Pod{*pod}, names...) {
		return commonv1.ImageStatus{}, false
	}
	for _, status := range pod.Status.InitContainerStatuses {
		ended := status.State.Terminated
		if status.Name != Container || ended == nil || ended.ExitCode != 0 {
			continue
		}
		var finding struct{ Script, Module, Version string }
		if json.Unmarshal([]byte(ended.Message), &finding) != nil {
			continue
		}
		return commonv1.ImageStatus{
			Reference: reference, Script: finding.Script, Module: finding.Module, Version: finding.Version,
		}, true
	}
	return commonv1.ImageStatus{}, false
}
