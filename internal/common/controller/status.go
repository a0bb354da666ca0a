package controller

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/c5c3/forge/internal/common/service"
)

// repeats reports whether the statuses differ only in what becomes known once on
// the way to Ready. The endpoint is that of API pods which are ready. Until the first
// release is written, the Jobs tell that they were done with this image, and the
// Deployment tells the release when another one is wanted.
func repeats[R service.Resource](before, now R) bool {
	without, ok := now.DeepCopyObject().(R)
	if !ok {
		return false
	}
	then, status := before.ServiceStatus(), without.ServiceStatus()
	if then.Endpoint == "" {
		status.Endpoint = ""
	}
	if then.InstalledRelease == "" {
		status.InstalledRelease = ""
	}
	return equality.Semantic.DeepEqual(before.StatusCopy(), without.StatusCopy())
}
