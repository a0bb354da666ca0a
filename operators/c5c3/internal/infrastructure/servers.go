// Package infrastructure has the steps for the dependencies of a control plane's services:
// the database and cache servers, and the passwords from the secret store.
package infrastructure

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// Reconcile creates the database and the cache in parallel and waits for both. Existing
// ones with another owner are used as they are.
func Reconcile(ctx context.Context, s *pass.Pass, all services.List) reconcile.Outcome {
	database, cache := ensureDatabase(ctx, s), ensureCache(ctx, s, all.CacheClients)
	switch {
	case database != nil:
		return reconcile.WriteFailed(databaseServer.failed, database)
	case cache != nil:
		return reconcile.WriteFailed(cacheServer.failed, cache)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonInfrastructureReady, "The database and the cache are ready")
}

// server is a kind of server of which a control plane has one.
type server struct {
	kind                          schema.GroupVersionKind
	operator, field               string
	notInstalled, failed, waiting string
}

var (
	databaseServer = server{
		kind: infraapi.MariaDBKind, operator: "mariadb-operator", field: "spec.infrastructure.database.host",
		notInstalled: c5c3v1alpha1.ReasonMariaDBNotInstalled, failed: c5c3v1alpha1.ReasonMariaDBError,
		waiting: c5c3v1alpha1.ReasonWaitingForDatabase,
	}
	cacheServer = server{
		kind: infraapi.MemcachedKind, operator: "the memcached operator", field: "spec.infrastructure.cache.servers",
		notInstalled: c5c3v1alpha1.ReasonMemcachedNotInstalled, failed: c5c3v1alpha1.ReasonMemcachedError,
		waiting: c5c3v1alpha1.ReasonWaitingForCache,
	}
)

// ensureDatabase returns an error until the database server is ready.
func ensureDatabase(ctx context.Context, s *pass.Pass) error {
	spec := s.CP.Spec.Infrastructure.Database
	if !spec.IsManaged() {
		return nil
	}
	live := &infraapi.MariaDB{ObjectMeta: metav1.ObjectMeta{Name: spec.ClusterRef.Name, Namespace: s.CP.Namespace}}
	ours, err := find(ctx, s, databaseServer, live)
	switch {
	case err != nil:
		return err
	case !ours:
		return databaseServer.await(live.Name, live.Status)
	}
	var existing *infraapi.MariaDBSpec
	if live.UID != "" {
		existing = &live.Spec
	}
	desired, err := mariaDB(s.CP, existing)
	if err != nil {
		return reconcile.TerminalError("", err)
	}
	// An apply over another version would revert what was changed in the meantime.
	desired.ResourceVersion = cmp.Or(live.ResourceVersion, apply.NoObject)
	if err := apply.EnsureObject(ctx, s.ThirdParty, s.Scheme, s.CP, desired, pass.FieldManager); err != nil {
		return err
	}
	if err := pass.Wake(ctx, s, desired); err != nil {
		return err
	}
	return databaseServer.await(desired.Name, desired.Status)
}

// clientPolicy is a policy that lets the services of a control plane reach its cache.
type clientPolicy func(*c5c3v1alpha1.ControlPlane) *networkingv1.NetworkPolicy

// ensureCache returns an error until the cache server is ready.
func ensureCache(ctx context.Context, s *pass.Pass, clients clientPolicy) error {
	spec := s.CP.Spec.Infrastructure.Cache
	if !spec.IsManaged() {
		return nil
	}
	live := &infraapi.Memcached{ObjectMeta: metav1.ObjectMeta{Name: spec.ClusterRef.Name, Namespace: s.CP.Namespace}}
	ours, err := find(ctx, s, cacheServer, live)
	switch {
	case err != nil:
		return err
	case !ours:
		// A stale cache may not show the owner yet.
		if err := apply.EnsureAbsent(ctx, s.Client, s.CP, clients(s.CP)); err != nil {
			return err
		}
		return cacheServer.await(live.Name, live.Status)
	}
	// The policy is created before the servers, so that they are never unprotected.
	if err := apply.EnsureObject(ctx, s.Client, s.Scheme, s.CP, clients(s.CP), pass.FieldManager); err != nil {
		return err
	}
	desired := memcached(s.CP)
	if err := apply.EnsureObject(ctx, s.ThirdParty, s.Scheme, s.CP, desired, pass.FieldManager); err != nil {
		return err
	}
	if err := pass.Wake(ctx, s, desired); err != nil {
		return err
	}
	return cacheServer.await(desired.Name, desired.Status)
}

// find reads the server into live. ours reports whether the control plane owns it or may
// create it, instead of using one that has another owner.
func find(ctx context.Context, s *pass.Pass, kind server, live client.Object) (ours bool, err error) {
	if !s.Kinds.Served(kind.kind) {
		return false, reconcile.WaitError(kind.notInstalled, fmt.Sprintf(
			"The cluster has no kind %s: install %s, or set %s", kind.kind.Kind, kind.operator, kind.field))
	}
	found, err := apply.Find(ctx, s.ThirdParty, client.ObjectKeyFromObject(live), live)
	switch {
	case err != nil:
		return false, err
	case found == nil:
		return true, nil
	case !live.GetDeletionTimestamp().IsZero():
		return false, reconcile.WaitError(kind.waiting, fmt.Sprintf("%s %s is being deleted", kind.kind.Kind, live.GetName()))
	case apply.Classify(s.Scheme, s.CP, live) == apply.Predecessors:
		return false, reconcile.WaitError(kind.waiting, fmt.Sprintf(
			"%s %s of a deleted ControlPlane is being removed", kind.kind.Kind, live.GetName()))
	}
	return metav1.IsControlledBy(live, s.CP), nil
}

// await returns an error until the server is ready.
func (k server) await(name string, status infraapi.Status) error {
	if status.Ready() {
		return nil
	}
	message := fmt.Sprintf("%s %s is not ready", k.kind.Kind, name)
	if detail := status.Message(); detail != "" {
		message += ": " + detail
	}
	return reconcile.WaitError(k.waiting, message)
}

// mariaDB keeps settings of an existing MariaDB: the size of its volumes, which may have
// been enlarged and cannot shrink, what mariadb-operator does not let change, and
// everything that would restart its servers.
func mariaDB(cp *c5c3v1alpha1.ControlPlane, existing *infraapi.MariaDBSpec) (*infraapi.MariaDB, error) {
	spec := cp.Spec.Infrastructure.Database
	size, err := spec.StorageSizeOrDefault()
	if err != nil {
		return nil, fmt.Errorf("spec.infrastructure.database.storageSize: %w", err)
	}
	maria := &infraapi.MariaDB{ObjectMeta: controlplane.ChildMeta(cp, spec.ClusterRef.Name), Spec: newServers(spec.ReplicasOrDefault())}
	if spec.ReplicasOrDefault() > 1 {
		maria.Spec.Affinity = apart(maria.Name)
	}
	maria.Spec.Storage = &infraapi.Storage{Size: &size, StorageClassName: spec.StorageClassName}
	maria.Spec.Image, maria.Spec.ImagePullSecrets = spec.Image, spec.ImagePullSecrets
	if existing == nil {
		return maria, nil
	}
	if existing.Storage != nil && existing.Storage.Size != nil {
		maria.Spec.Storage = existing.Storage
	}
	maria.Spec.ImagePullSecrets = existing.ImagePullSecrets
	maria.Spec.Affinity, maria.Spec.Resources = existing.Affinity, existing.Resources
	maria.Spec.StartupProbe, maria.Spec.ReadinessProbe = existing.StartupProbe, existing.ReadinessProbe
	maria.Spec.LivenessProbe = existing.LivenessProbe
	maria.Spec.Galera.Agent, maria.Spec.Galera.ProviderOptions = nil, nil
	if galera := existing.Galera; galera != nil {
		maria.Spec.Galera.ProviderOptions = galera.ProviderOptions
		if galera.Agent != nil && galera.Agent.BasicAuth != nil {
			maria.Spec.Galera.Agent = galera.Agent
		}
	}
	return maria, nil
}

// apart has the servers of a MariaDB run on different nodes as long as there are enough: a
// node that fails takes only one of them along. mariadb-operator's own antiAffinityEnabled
// would leave servers without a node where there are fewer, and cannot be turned off again.
func apart(name string) *infraapi.Affinity {
	return &infraapi.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
					"app.kubernetes.io/instance": name, "app.kubernetes.io/name": "mariadb",
				}},
				TopologyKey: corev1.LabelHostname,
			},
		}},
	}}
}

// newServers returns the settings of a new MariaDB. With mariadb-operator's defaults, the
// servers have no resource requests and are starved on a busy node. Their first probe
// comes after 20 seconds, and the kubelet kills a server that is still copying the
// database from the others after 50. The agents beside them check tokens with a
// ClusterRoleBinding that outlives the MariaDB; with a password they need none.
func newServers(replicas int32) infraapi.MariaDBSpec {
	servers := infraapi.MariaDBSpec{
		Replicas: &replicas, Galera: &infraapi.Galera{Enabled: replicas > 1},
		Resources: &infraapi.Resources{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
		}},
		StartupProbe:   &infraapi.Probe{InitialDelaySeconds: 1, PeriodSeconds: startupPeriod, FailureThreshold: startupLimit / startupPeriod},
		ReadinessProbe: &infraapi.Probe{InitialDelaySeconds: 1},
	}
	if servers.Galera.Enabled {
		servers.Galera.Agent = &infraapi.GaleraAgent{BasicAuth: &infraapi.BasicAuth{Enabled: true}}
		// With Galera's defaults, half of these values, servers on a node that is busy
		// for a few seconds lose each other, and none of them serves until they have
		// reconnected.
		servers.Galera.ProviderOptions = map[string]string{"evs.suspect_timeout": "PT10S", "evs.inactive_timeout": "PT30S"}
	} else {
		// By default each probe of a single server starts a shell and a client. A server
		// that still creates or recovers its data does not listen on the port.
		port := &infraapi.TCPSocket{Port: intstr.FromInt32(commonv1.DefaultDatabasePort)}
		servers.StartupProbe.TCPSocket, servers.ReadinessProbe.TCPSocket = port, port
		servers.LivenessProbe = &infraapi.Probe{TCPSocket: port, PeriodSeconds: 60}
	}
	return servers
}

// The interval and the duration of the startup probe in seconds. Copying the default
// volume takes a quarter of an hour at 1 Gbit/s.
const (
	startupPeriod = 2
	startupLimit  = 3600
)

func memcached(cp *c5c3v1alpha1.ControlPlane) *infraapi.Memcached {
	cache := cp.Spec.Infrastructure.Cache
	return &infraapi.Memcached{
		ObjectMeta: controlplane.ChildMeta(cp, cache.ClusterRef.Name),
		Spec:       infraapi.MemcachedSpec{Replicas: &cache.Replicas, Image: cache.Image},
	}
}
