package operator

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	events "k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/leaderelection"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// renewInterval is how often the leader renews its Lease. client-go renews it as often as
// others look for one that has been released, and each renewal is a write to etcd.
const renewInterval = 4 * time.Second

// requestTimeout is how long a request for the Lease may take.
const requestTimeout = renewDeadline / 2

// newLock returns the Lease of the leader. Its events go to the manager that is stored
// later.
func newLock(config *rest.Config, options ctrl.Options, mgr *atomic.Pointer[ctrl.Manager]) (resourcelock.Interface, error) {
	// A copy, because it gets a timeout that would end the watches of the others.
	lock, err := leaderelection.NewResourceLock(rest.CopyConfig(config), lateRecorder{mgr: mgr}, leaderelection.Options{
		LeaderElection: options.LeaderElection, LeaderElectionID: options.LeaderElectionID,
		LeaderElectionNamespace: options.LeaderElectionNamespace, RenewDeadline: renewDeadline,
	})
	if lock == nil || err != nil {
		return nil, err
	}
	return &sparingLock{Interface: lock, now: time.Now}, nil
}

// sparingLock leaves out renewals that follow another one too soon. client-go takes its Lease
// for renewed all the same, and gives up that much later.
type sparingLock struct {
	resourcelock.Interface

	now func() time.Time
	// held is what was written last, at the time renewed.
	held    resourcelock.LeaderElectionRecord
	renewed time.Time
}

// Update implements [resourcelock.Interface].
func (l *sparingLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	unchanged := record
	unchanged.RenewTime = l.held.RenewTime
	if unchanged == l.held && l.now().Sub(l.renewed) < renewInterval {
		return nil
	}
	l.held = resourcelock.LeaderElectionRecord{}
	asked := l.now()
	if err := l.Interface.Update(ctx, record); err != nil {
		return err
	}
	l.held, l.renewed = record, asked
	return nil
}

// lateRecorder records the events of an election, which begins when the manager exists.
type lateRecorder struct {
	recorder.Provider

	mgr *atomic.Pointer[ctrl.Manager]
}

// GetEventRecorderFor implements [recorder.Provider].
func (r lateRecorder) GetEventRecorderFor(name string) events.EventRecorder {
	return electionEvents{mgr: r.mgr, name: name}
}

// electionEvents is used for its Eventf only.
type electionEvents struct {
	events.EventRecorder

	mgr  *atomic.Pointer[ctrl.Manager]
	name string
}

// Eventf implements [events.EventRecorder].
func (e electionEvents) Eventf(object runtime.Object, eventType, reason, message string, arguments ...any) {
	if mgr := e.mgr.Load(); mgr != nil {
		//nolint:staticcheck // client-go's election knows no other.
		(*mgr).GetEventRecorderFor(e.name).Eventf(object, eventType, reason, message, arguments...)
	}
}
