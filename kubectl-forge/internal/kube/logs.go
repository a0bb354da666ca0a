package kube

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
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

type podLogs struct{ pods corev1client.PodsGetter }

// Read returns the end of a log.
func (l podLogs) Read(ctx context.Context, request LogRequest) (string, error) {
	stream, err := l.pods.Pods(request.Namespace).GetLogs(request.Pod, &corev1.PodLogOptions{
		Container: request.Container, Previous: request.Previous,
		TailLines: ptr.To(request.Lines), LimitBytes: ptr.To(int64(maxLogBytes)),
	}).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	content, err := io.ReadAll(stream)
	return string(content), err
}
