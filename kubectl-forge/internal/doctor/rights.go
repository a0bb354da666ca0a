package doctor

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// needs are the permissions that commands need in the namespace, such as "get pods/log". A verb alone is one on
// everything that can be a target.
var needs = []struct{ commands, rights string }{
	{"status, support-bundle", "list; list pods; list events; get pods/log; list jobs.batch; list cronjobs.batch; list deployments.apps"},
	{"wait", "get"},
	{
		"rotate fernet, credential, password",
		"get keystones.keystone.openstack.c5c3.io; get cronjobs.batch; create jobs.batch; get jobs.batch",
	},
	{
		"rotate application-credential", "get controlplanes.c5c3.io; create credentialrotations.c5c3.io; " +
			"get credentialrotations.c5c3.io; delete credentialrotations.c5c3.io",
	},
	{"upgrade", "patch"},
	{"backup", "get cronjobs.batch; create jobs.batch; get jobs.batch"},
	{"restore", "patch"},
	{"verify", "get secrets; get services; list pods; create pods/portforward"},
	{"verify --tempest", "create jobs.batch; get jobs.batch; list pods; get pods/log"},
	{"login", "get secrets; list pods; create pods/portforward"},
}

// checkRights checks for each command whether the user has its permissions. Nobody needs one on a kind of ours that the
// cluster does not serve.
func (e *examination) checkRights(ctx context.Context) error {
	for _, need := range needs {
		var rights, missing []string
		for text := range strings.SplitSeq(need.rights, "; ") {
			if strings.Contains(text, " ") {
				rights = append(rights, text)
				continue
			}
			for _, kind := range inventory.TargetKinds() {
				plural, _ := meta.UnsafeGuessKindToResource(kind)
				if e.served == nil || e.serves(kind) {
					rights = append(rights, text+" "+plural.GroupResource().String())
				}
			}
		}
		for _, right := range rights {
			err := kube.Require(ctx, e, e.Namespace, right)
			lacking, lacks := errors.AsType[kube.MissingRightError](err)
			switch {
			case lacks:
				missing = append(missing, string(lacking))
			case err != nil:
				return err
			}
		}
		if name := "Permissions for " + need.commands; len(missing) == 0 {
			e.add(name, check.OK, "granted in namespace %s", e.Namespace)
		} else {
			e.add(name, check.Warning, "you may not %s", strings.Join(missing, "; "))
		}
	}
	return nil
}
