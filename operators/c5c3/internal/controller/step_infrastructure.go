package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/backing"
)

// reconcileInfrastructure creates the database and the cache side by side and
// waits for both. One that exists already and belongs to somebody else is used
// as it is.
func reconcileInfrastructure(ctx context.Context, s *scope) reconcile.Outcome {
	database, cache := s.ensureDatabase(ctx), s.ensureCache(ctx)
	for _, outcome := range []reconcile.Outcome{database, cache} {
		if !outcome.IsDone() {
			return outcome
		}
	}
	return reconcile.Done(c5c3v1alpha1.ReasonInfrastructureReady, "The database and the cache are ready")
}

// server is a kind of server that a control plane has one of.
type server struct {
	kind                          schema.GroupVersionKind
	operator, field               string
	notInstalled, failed, waiting string
}

var (
	databaseServer = server{
		kind: backing.MariaDBKind, operator: "mariadb-operator", field: "spec.infrastructure.database.host",
		notInstalled: c5c3v1alpha1.ReasonMariaDBNotInstalled, failed: c5c3v1alpha1.ReasonMariaDBError,
		waiting: c5c3v1alpha1.ReasonWaitingForDatabase,
	}
	cacheServer = server{
		kind: backing.MemcachedKind, operator: "the memcached operator", field: "spec.infrastructure.cache.servers",
		notInstalled: c5c3v1alpha1.ReasonMemcachedNotInstalled, failed: c5c3v1alpha1.ReasonMemcachedError,
		waiting: c5c3v1alpha1.ReasonWaitingForCache,
	}
)

func (s *scope) ensureDatabase(ctx context.Context) reconcile.Outcome {
	spec := s.cp.Spec.Infrastructure.Database
	if !spec.IsManaged() {
		return reconcile.Done(c5c3v1alpha1.ReasonInfrastructureReady, "")
	}
	live := &backing.MariaDB{ObjectMeta: metav1.ObjectMeta{Name: spec.ClusterRef.Name, Namespace: s.cp.Namespace}}
	outcome, ours := s.find(ctx, databaseServer, live)
	if !ours {
		return databaseServer.report(outcome, live.Name, live.Status)
	}
	desired, err := mariaDB(s.cp, live.Spec.Storage)
	if err != nil {
		return reconcile.Terminal(databaseServer.failed, err)
	}
	if err := apply.EnsureObject(ctx, s.foreign, s.scheme, s.cp, desired, fieldManager); err != nil {
		return writeError(databaseServer.failed, err)
	}
	return databaseServer.report(outcome, desired.Name, desired.Status)
}

func (s *scope) ensureCache(ctx context.Context) reconcile.Outcome {
	spec := s.cp.Spec.Infrastructure.Cache
	if !spec.IsManaged() {
		return reconcile.Done(c5c3v1alpha1.ReasonInfrastructureReady, "")
	}
	live := &backing.Memcached{ObjectMeta: metav1.ObjectMeta{Name: spec.ClusterRef.Name, Namespace: s.cp.Namespace}}
	outcome, ours := s.find(ctx, cacheServer, live)
	if !ours {
		return cacheServer.report(outcome, live.Name, live.Status)
	}
	// Before there are servers, so that they are never open.
	if err := apply.EnsureObject(ctx, s.client, s.scheme, s.cp, cacheClients(s.cp), fieldManager); err != nil {
		return writeError(cacheServer.failed, err)
	}
	desired := memcached(s.cp)
	if err := apply.EnsureObject(ctx, s.foreign, s.scheme, s.cp, desired, fieldManager); err != nil {
		return writeError(cacheServer.failed, err)
	}
	return cacheServer.report(outcome, desired.Name, desired.Status)
}

// find reads the server into live. ours tells whether the control plane has it,
// or may create it; otherwise the outcome, unless it is done, says why nothing
// can be said about it.
func (s *scope) find(ctx context.Context, kind server, live client.Object) (outcome reconcile.Outcome, ours bool) {
	done := reconcile.Done(c5c3v1alpha1.ReasonInfrastructureReady, "")
	if !s.kinds.Served(kind.kind) {
		return reconcile.Waiting(kind.notInstalled, fmt.Sprintf(
			"The cluster has no kind %s: install %s, or set %s", kind.kind.Kind, kind.operator, kind.field)), false
	}
	err := s.foreign.Get(ctx, client.ObjectKeyFromObject(live), live)
	switch {
	case apierrors.IsNotFound(err):
		return done, true
	case err != nil:
		return reconcile.Failed(kind.failed, fmt.Errorf("reading %s %s: %w", kind.kind.Kind, live.GetName(), err)), false
	case !live.GetDeletionTimestamp().IsZero():
		return reconcile.Waiting(kind.waiting, fmt.Sprintf("%s %s is being deleted", kind.kind.Kind, live.GetName())), false
	case metav1.IsControlledBy(live, s.cp):
		return done, true
	case s.isPredecessors(live):
		return reconcile.Waiting(kind.waiting, fmt.Sprintf(
			"%s %s of a deleted ControlPlane is being removed", kind.kind.Kind, live.GetName())), false
	}
	return done, false
}

// isPredecessors tells whether the object belongs to a deleted ControlPlane of
// the same name.
func (s *scope) isPredecessors(live client.Object) bool {
	controller := metav1.GetControllerOf(live)
	return controller != nil && controller.Kind == "ControlPlane" && controller.Name == s.cp.Name && controller.UID != s.cp.UID
}

func (k server) report(found reconcile.Outcome, name string, status backing.Status) reconcile.Outcome {
	if !found.IsDone() || status.Ready() {
		return found
	}
	message := fmt.Sprintf("%s %s is not ready", k.kind.Kind, name)
	if detail := status.Message(); detail != "" {
		message += ": " + detail
	}
	return reconcile.Waiting(k.waiting, message)
}

// mariaDB keeps the volumes of an existing MariaDB as they are: they may have
// been enlarged, and cannot shrink.
func mariaDB(cp *c5c3v1alpha1.ControlPlane, existing *backing.Storage) (*backing.MariaDB, error) {
	spec := cp.Spec.Infrastructure.Database
	storage := &backing.Storage{}
	if existing != nil && existing.Size != nil {
		storage.Size = existing.Size
	} else {
		size, err := spec.StorageSizeOrDefault()
		if err != nil {
			return nil, fmt.Errorf("spec.infrastructure.database.storageSize: %w", err)
		}
		storage.Size = &size
	}
	replicas := spec.ReplicasOrDefault()
	return &backing.MariaDB{
		ObjectMeta: childMeta(cp, spec.ClusterRef.Name),
		Spec: backing.MariaDBSpec{
			Replicas: &replicas, Galera: &backing.Galera{Enabled: replicas > 1}, Storage: storage,
		},
	}, nil
}

func memcached(cp *c5c3v1alpha1.ControlPlane) *backing.Memcached {
	replicas := cp.Spec.Infrastructure.Cache.Replicas
	return &backing.Memcached{
		ObjectMeta: childMeta(cp, cp.Spec.Infrastructure.Cache.ClusterRef.Name), Spec: backing.MemcachedSpec{Replicas: &replicas},
	}
}
