package controller

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// hibernation declares how a control plane hibernates: its services stop before what they stand
// on, and Keystone last of them. K-ORC needs Keystone, and Keystone the database, to remove what
// they have made for a control plane that is deleted.
var hibernation = controller.Hibernation[*c5c3v1alpha1.ControlPlane, *pass.Tools]{
	Wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return ptr.Deref(cp.Spec.Hibernation, false) },
	Busy: func(cp *c5c3v1alpha1.ControlPlane) string {
		if phase := cp.Status.UpdatePhase; phase != "" && phase != c5c3v1alpha1.UpdatePhaseIdle {
			return "the update to " + cp.Spec.OpenStackRelease
		}
		return ""
	},
	Stops:     slices.Concat([]reconcile.Stoppable{backupStop}, services.All.Stops(), []reconcile.Stoppable{databaseStop, cacheStop}),
	WakesToGo: true,
}

var backupStop = reconcile.Stoppable{
	Object: &infraapi.Backup{},
	Spec:   map[string]any{"schedule": map[string]any{"suspend": true}},
	IsStopped: func(obj client.Object) bool {
		backups, ok := obj.(*infraapi.Backup)
		return ok && (backups.Spec.Schedule == nil || backups.Spec.Schedule.Suspend)
	},
	MayRefuse: true,
}

var databaseStop = reconcile.Stoppable{
	After: func(ctx context.Context, c client.Reader, owner client.Object) (string, error) {
		cp, ok := owner.(*c5c3v1alpha1.ControlPlane)
		if !ok {
			return "", nil
		}
		// Those of backups and restores.
		return job.Unended(ctx, c, client.InNamespace(cp.Namespace), client.MatchingLabels(controlplane.Labels(cp)))
	},
	Object: &infraapi.MariaDB{},
	// Zero is even.
	Spec:      map[string]any{"replicas": 0, "replicasAllowEvenNumber": true},
	MayRefuse: true,
	IsStopped: func(obj client.Object) bool {
		database, ok := obj.(*infraapi.MariaDB)
		return ok && ptr.Deref(database.Spec.Replicas, 1) == 0
	},
	Running: func(obj client.Object) string {
		if database, ok := obj.(*infraapi.MariaDB); ok && database.Status.Ready() {
			return "MariaDB " + database.Name + " has not stopped"
		}
		return ""
	},
	Unstoppable: func(obj client.Object) string {
		if database, ok := obj.(*infraapi.MariaDB); ok && database.Spec.Galera != nil && database.Spec.Galera.Enabled {
			return fmt.Sprintf("MariaDB %s stays up: mariadb-operator cannot stop a Galera cluster", database.Name)
		}
		return ""
	},
}

var cacheStop = reconcile.Stoppable{
	Object:    &infraapi.Memcached{},
	Spec:      map[string]any{"replicas": 0},
	MayRefuse: true,
	IsStopped: func(obj client.Object) bool {
		cache, ok := obj.(*infraapi.Memcached)
		return ok && ptr.Deref(cache.Spec.Replicas, 1) == 0
	},
}
