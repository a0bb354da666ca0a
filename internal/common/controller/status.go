package controller

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/c5c3/forge/internal/common/service"
)

// repeats reports whether the statuses differ only in fields that are set once on the way
// to Ready. The endpoint follows from ready API pods. Until the first release is
// recorded, finished Jobs show that they ran with this image, and the Deployment shows
// the release once another one is wanted.
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
