package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/poddiag"
)

const (
	// maxUnready bounds how many logs are read of each service: its pods mostly have the
	// same reason.
	maxUnready = 3
	// readinessLines is how many lines of a log are read. The reason is repeated with each
	// probe, and there may be tracebacks in between.
	readinessLines = 400
)

// readReadiness reads from the logs of API pods why they are not ready. A log that cannot
// be read is no gap here: the report quotes logs, too, and says so.
func (r *reader) readReadiness(ctx context.Context) {
	r.found.Unready = map[types.UID]string{}
	logs := map[string]int{}
	for i := range r.found.Pods {
		pod := &r.found.Pods[i]
		container := poddiag.Unready(pod)
		service := pod.Labels["app.kubernetes.io/name"] + "/" + pod.Labels["app.kubernetes.io/instance"]
		if container == "" || logs[service] == maxUnready {
			continue
		}
		logs[service]++
		request := LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: container, Lines: readinessLines}
		log, err := r.Logs.Read(ctx, request)
		if reason := poddiag.UnreadyReason(log); err == nil && reason != "" {
			r.found.Unready[pod.UID] = reason
		}
	}
}
