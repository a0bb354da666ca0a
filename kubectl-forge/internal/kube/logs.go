package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// LogRequest names a part of a container's log.
type LogRequest struct {
	Namespace, Pod, Container string
	// Previous asks for the log of the instance before the last restart.
	Previous bool
	// Lines is how many lines of the end are read.
	Lines int64
}

// LogReader reads the logs of containers.
type LogReader interface {
	Read(ctx context.Context, request LogRequest) (string, error)
}

// maxLogBytes bounds what is read of one container.
const maxLogBytes = 1 << 20

type podLogs struct{ cluster kubernetes.Interface }

// Read returns the end of a log.
func (l podLogs) Read(ctx context.Context, r LogRequest) (string, error) {
	content, err := l.cluster.CoreV1().Pods(r.Namespace).GetLogs(r.Pod, &corev1.PodLogOptions{
		Container: r.Container, Previous: r.Previous, TailLines: &r.Lines, LimitBytes: ptr.To(int64(maxLogBytes)),
	}).DoRaw(ctx)
	return string(content), Explain(err)
}
