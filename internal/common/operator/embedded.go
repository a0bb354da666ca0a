package operator

import (
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator/startup"
)

// ManagerOptions are the options of the operator's manager, without its listeners
// and leader election, so that a test can run the operator with its real caches
// and clients, several times in one process.
func ManagerOptions(o Options, cfg startup.Config) ctrl.Options {
	s := &settings{Config: cfg, metricsAddress: listenNowhere, probeAddress: listenNowhere}
	options := managerOptions(o, s, &servingCertificate{})
	options.Controller.SkipNameValidation = ptr.To(true)
	return options
}
