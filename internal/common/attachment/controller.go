package attachment

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/internal/common/watches"
)

// indexCredentials is the field index from the name of a Secret to the resources that need it.
const indexCredentials = "spec.credentials"

// Controller is the controller of the attached resources.
type Controller[A Resource] struct {
	controller.Controller[A, *kube.Access, *scope[A]]
	field string
}

// Controller returns the controller of the attached resources.
func (d Declaration[A]) Controller() Controller[A] {
	return Controller[A]{field: d.Field, Controller: controller.Controller[A, *kube.Access, *scope[A]]{
		For: d.For, List: d.List, AddToScheme: d.AddToScheme,
		Kinds: []controller.Kind{{Object: d.Service, Concerns: controller.By(d.Field)}},
		Indexes: map[string]func(A) []string{
			d.Field:          func(a A) []string { return []string{a.ServiceName()} },
			indexCredentials: d.secretNames,
		},
		Secrets: controller.By(indexCredentials),
		Guard:   d.Guard,
		Scope: func(access *kube.Access, resource A) *scope[A] {
			return &scope[A]{Access: access, Slots: &reconcile.Slots{}, declared: d, resource: resource}
		},
		Pipeline: reconcile.Pipeline[*scope[A]]{
			{
				Name: "Accept", Condition: vocabulary.ConditionAccepted, Run: run((*scope[A]).accept),
				Sets: []reconcile.Value{found},
			},
			{
				Name: "Programmed", Condition: vocabulary.ConditionProgrammed, Run: run((*scope[A]).programmed),
				Reads: []reconcile.Value{found}, Needs: []string{"Accept"}, HeldBack: vocabulary.ReasonNotProgrammed,
			},
		},
		Finalizers: []reconcile.Finalizer[*scope[A]]{{
			Name: d.Finalizer,
			Step: reconcile.Step[*scope[A]]{Name: "Release", Condition: vocabulary.ConditionProgrammed, Run: run((*scope[A]).release)},
		}},
	}}
}

// SetupShared registers the controller with the manager of the service's controller.
func (c Controller[A]) SetupShared(ctx context.Context, in *controller.Shared) error {
	return c.Setup(ctx, in, &in.Access)
}

// Watch is the entry for the controller of the service: a change of an attached resource
// concerns the service that it names.
func (c Controller[A]) Watch() controller.Kind {
	return controller.Kind{Object: c.For, AddToScheme: c.AddToScheme, Concerns: named}
}

// named selects the service that an attached resource names.
func named(watches.Finder) handler.MapFunc {
	return func(_ context.Context, obj client.Object) []ctrlreconcile.Request {
		resource, ok := obj.(Resource)
		if !ok {
			return nil
		}
		return []ctrlreconcile.Request{{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: resource.ServiceName()}}}
	}
}

func (d Declaration[A]) secretNames(a A) (names []string) {
	for _, requirement := range []func(A) *service.Requirement{d.Credentials, d.CABundle} {
		if requirement == nil {
			continue
		}
		if required := requirement(a); required != nil {
			names = append(names, required.Name)
		}
	}
	return names
}

func kindOf[A Resource]() string { return reflect.TypeFor[A]().Elem().Name() }

// scope is one pass over an attached resource.
type scope[A Resource] struct {
	*kube.Access
	*reconcile.Slots
	declared Declaration[A]
	resource A
}

// found holds the entry of the resource in the status of its service, nil if it has none.
var found = reconcile.NewSlot[*commonv1.Attached]("Attached")

// service returns the service of the resource, nil if it does not exist.
func (s *scope[A]) service(ctx context.Context) (Holder, error) {
	key := client.ObjectKey{Namespace: s.resource.GetNamespace(), Name: s.resource.ServiceName()}
	return apply.Find(ctx, s.Client, key, apply.Copy(s.declared.Service))
}

// accept reports whether the service takes the resource into its configuration.
func (s *scope[A]) accept(ctx context.Context) reconcile.Outcome {
	status := s.resource.AttachmentStatus()
	holder, err := s.service(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case holder == nil:
		status.Configuration = ""
		return reconcile.Waiting(vocabulary.ReasonServiceNotFound, fmt.Sprintf(
			"%s %s of %s does not exist; create it, or correct the name", s.declared.Definition.Kind, s.resource.ServiceName(), s.declared.Field))
	}
	entries := *holder.Attached()
	judged, err := s.declared.verdicts(ctx, service.NewPass(&service.Tools{Access: *s.Access}, s.declared.Definition, holder), entries)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	for _, v := range judged {
		if v.Resource.GetUID() != s.resource.GetUID() {
			continue
		}
		status.Configuration = v.Configuration
		entry := of(entries, s.resource)
		refer(s.resource, entry)
		found.Put(s.Slots, entry)
		switch {
		case v.reason != "" && hasConfiguration(entry, v.Configuration):
			return reconcile.Waiting(v.reason, v.message).Proceed()
		case v.reason != "":
			return reconcile.Waiting(v.reason, v.message)
		}
		return s.report(holder, v.Accepted)
	}
	return reconcile.Waiting(vocabulary.ReasonServiceNotFound, "the reference to the service has just changed")
}

// expiresSoon is how long before something expires the condition has a reason of its own.
const expiresSoon = 30 * 24 * time.Hour

// report is the outcome for an accepted resource.
func (s *scope[A]) report(holder Holder, a Accepted[A]) reconcile.Outcome {
	reason, message := vocabulary.ReasonAccepted, fmt.Sprintf(
		"%s %s takes it into its configuration", s.declared.Definition.Kind, holder.GetName())
	if s.declared.Report == nil {
		return reconcile.Done(reason, message)
	}
	// The verdict has a copy of the resource.
	a.Resource = s.resource
	further, expires := s.declared.Report(holder, a, s.Now())
	if further != "" {
		message += ". " + further
	}
	if !expires.IsZero() && expires.Sub(s.Now()) < expiresSoon {
		reason = vocabulary.ReasonExpiresSoon
	}
	return reconcile.Done(reason, message)
}

// Referrer is a resource whose status has what the service calls it.
type Referrer interface {
	SetReference(reference string)
}

// refer records what the service calls the resource. What is known stays while the resource is
// verified again.
func refer(resource Resource, entry *commonv1.Attached) {
	if referrer, ok := resource.(Referrer); ok && entry != nil && entry.Verification != nil && entry.Verification.Reference != "" {
		referrer.SetReference(entry.Verification.Reference)
	}
}

// programmed reports whether all pods of the service have the resource as it is now.
func (s *scope[A]) programmed(context.Context) reconcile.Outcome {
	entry := found.Value(s.Slots)
	name := s.declared.Definition.Kind + " " + s.resource.ServiceName()
	if entry == nil || entry.Configuration != s.resource.AttachmentStatus().Configuration {
		return reconcile.Waiting(vocabulary.ReasonNotProgrammed,
			"The pods of "+name+" do not have it as it is now yet; its conditions say what it waits for")
	}
	return reconcile.Done(vocabulary.ReasonProgrammed, "All pods of "+name+" have it")
}

// release waits until the service does not need the resource any more. A service that is being
// deleted stores nothing more, and one that was never installed has stored nothing in a resource
// that not all of its pods have. Pods start while the schema of a first installation is checked, so
// they may have a resource before the service counts as installed.
func (s *scope[A]) release(ctx context.Context) reconcile.Outcome {
	holder, err := s.service(ctx)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	released := reconcile.Done(vocabulary.ReasonReleasing, "Nothing of the service uses it any more")
	if holder == nil || !holder.GetDeletionTimestamp().IsZero() {
		return released
	}
	entry, name := of(*holder.Attached(), s.resource), s.declared.Definition.Kind+" "+holder.GetName()
	switch {
	case entry == nil && holder.ServiceStatus().InstalledRelease == "":
		return released
	case entry == nil:
		return reconcile.Waiting(vocabulary.ReasonReleasing, name+" has not released it yet; look at the conditions of that")
	case entry.Phase == commonv1.AttachedReleased:
		return released
	case entry.InUse != "" && entry.Phase == commonv1.AttachedReleasing:
		return reconcile.Waiting(vocabulary.ReasonInUse, entry.InUse)
	case entry.InUse != "":
		return reconcile.Waiting(vocabulary.ReasonInUse, name+" still needs it: "+entry.InUse)
	case entry.Phase == commonv1.AttachedReleasing, s.declared.Usage == nil:
		return reconcile.Waiting(vocabulary.ReasonReleasing, "The pods of "+name+" are replaced by ones without it")
	}
	return reconcile.Waiting(vocabulary.ReasonReleasing, name+" finds out whether there are "+s.declared.Usage.Items+" in it")
}

// run makes a step of a method of the scope.
func run[A Resource](method func(*scope[A], context.Context) reconcile.Outcome) func(context.Context, *scope[A]) reconcile.Outcome {
	return func(ctx context.Context, s *scope[A]) reconcile.Outcome { return method(s, ctx) }
}
