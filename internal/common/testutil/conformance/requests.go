package conformance

import (
	"strconv"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// largeRequests verifies that the pods have room for as many headers as uWSGI can take.
func (i *Instance[T]) largeRequests(mode) {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	for _, variable := range deploy.Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "UWSGI_BUFFER_SIZE" && variable.Value == strconv.Itoa(deployment.MaxRequestHead) {
			return
		}
	}
	i.Error("the pods drop the connection of a request with more than 4 KiB of headers")
}
