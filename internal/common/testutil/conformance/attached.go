package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/attachment"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Attached describes a kind of resources that belong to a service. T is a pointer to the Go type
// of the service's kind, A one to that of the resources.
type Attached[T attachment.Holder, A attachment.Resource] struct {
	// Service describes the service.
	Service Service[T]
	// Vocabulary lists the conditions, reasons and events of the kind.
	Vocabulary vocabulary.Kind
	// New returns a resource of the service named after its code name. Two of different names are
	// no duplicates, unless Alone is set.
	New func(namespace, name string) A
	// Duplicate changes a resource of another name into a duplicate of that one.
	Duplicate func(resource, of A)
	// Alone says that a service has one of them at most, and does without.
	Alone bool
	// Need changes the service so that it needs the resource of the name. It is nil if the service
	// needs one anyway.
	Need func(service T, name string)
	// Credentials returns the Secret of the resource.
	Credentials func(namespace, name string) *corev1.Secret
	// Item is what the task says that counts what is stored in a resource, such as "3 images". It is
	// "" if nothing is stored in one. Such resources have files, a task verifies them, and the
	// service does without any.
	Item string
	// Condition is the type of the condition of the service that reports its resources.
	Condition string
	// Trigger returns an object whose change triggers a pass over the named resource and does not
	// matter to it.
	Trigger func(resource client.ObjectKey) client.Object
	// StatusWrites is the maximum number of status writes until Ready.
	StatusWrites int
}

// attachedTrial is a kind of attached resources in a world.
type attachedTrial[T attachment.Holder, A attachment.Resource] struct {
	Attached[T, A]
	*World
}

// names of the resources of which tests need two.
const (
	firstAttached  = "first"
	secondAttached = "second"
)

// RunAttached verifies that a kind of resources that belong to a service conforms to what every
// such kind has to do.
func RunAttached[T attachment.Holder, A attachment.Resource](t *testing.T, a Attached[T, A], w *World) {
	s := attachedTrial[T, A]{a, w}
	RunKind(t, s.kind(t), w)
	each(t, []proof{
		{"waits for its service", parallel(s.withoutService)},
		{"names what its Secret lacks", parallel(s.withoutCredentials)},
		{"does not disturb the first of two duplicates", parallel(s.duplicates)},
		{"gives new credentials to all pods", parallel(s.credentials)},
	})
	if s.Item == "" {
		each(t, []proof{
			{"is left as it was while its Secret is gone", parallel(s.lostCredentialsOfOne)},
			{"is verified before pods get it", parallel(s.verified)},
			{"ends once no pod has it", parallel(s.endsUncounted)},
			{"goes when its service goes", parallel(s.goesUncounted)},
		})
		return
	}
	each(t, []proof{
		{"keeps what is configured while its Secret is gone", parallel(s.lostCredentials)},
		{"ends once nothing is stored in it", parallel(s.ends)},
		{"comes back if something is stored while it ends", parallel(s.comesBack)},
		{"is kept while its service needs it", parallel(s.needed)},
		{"goes when its service goes", parallel(s.goesWithItsService)},
	})
}

// others are the names of the resources that the service has in addition: without another one it
// might need the one that a test deletes.
func (s attachedTrial[T, A]) others() []string {
	if s.Alone {
		return nil
	}
	return []string{firstAttached}
}

// resources returns the named resources with their Secrets.
func (s attachedTrial[T, A]) resources(namespace string, names ...string) []client.Object {
	var all []client.Object
	for _, name := range names {
		all = append(all, s.Credentials(namespace, name), s.New(namespace, name))
	}
	return all
}

// kind is the kind on its own: its service and the others exist before it.
func (s attachedTrial[T, A]) kind(t *testing.T) Kind[A] {
	t.Helper()
	of, program := suite[T]{s.Service, s.World}, s.Service.Program
	program.Trigger = s.Trigger
	return Kind[A]{
		Program: program, Vocabulary: s.Vocabulary, probe: of.probe,
		New: func(namespace string) A { return s.New(namespace, secondAttached) },
		Inputs: func(namespace string) []client.Object {
			all := append(s.inputs(namespace), s.service(namespace), s.Credentials(namespace, secondAttached))
			return append(all, s.resources(namespace, s.others()...)...)
		},
		Observe: func(ctx context.Context, namespace string) (any, error) { return s.observe(ctx, namespace) },
		Settled: s.settled, Gone: s.released,
		Left:           func(ctx context.Context, namespace string) (any, error) { return s.observe(ctx, namespace) },
		Writes:         s.writes(t),
		DeletionWrites: s.deletionWrites(t),
		StatusWrites:   s.StatusWrites,
		Watches:        append(of.otherKinds(), of.resourceOf(t, of.Definition.Kind)),
		Long:           true,
	}
}

// inputs returns the objects that the service refers to, without the resources of the kind and
// their Secrets.
func (s attachedTrial[T, A]) inputs(namespace string) []client.Object {
	all := s.Service.Inputs(namespace)
	var own []string
	for _, input := range all {
		if a, ok := input.(A); ok {
			own = append(own, a.GetName(), s.Credentials(namespace, a.GetName()).Name)
		}
	}
	return slices.DeleteFunc(all, func(input client.Object) bool { return slices.Contains(own, input.GetName()) })
}

// service returns the service of the resources.
func (s attachedTrial[T, A]) service(namespace string) T {
	return s.Service.New(namespace, s.Service.Definition.CodeName)
}

// kindOf returns the kind of the resources.
func (s attachedTrial[T, A]) kindOf(t *testing.T) schema.GroupVersionKind {
	t.Helper()
	gvk, err := s.Admin.GroupVersionKindFor(s.New("", ""))
	if err != nil {
		t.Fatal(err)
	}
	return gvk
}

// writes are those of the service and of all resources.
func (s attachedTrial[T, A]) writes(t *testing.T) map[string]int {
	t.Helper()
	of, resource := suite[T]{s.Service, s.World}, s.resource(t, s.kindOf(t))
	writes := of.trial(t, of.modes()[0]).Writes
	all := 1 + len(s.others())
	writes["patch "+resource], writes["update "+resource+"/status"] = all, all
	if s.Item == "" {
		// The verification of each, and its files.
		writes["create jobs.batch"] += all
		writes["create secrets"] += all
	}
	return writes
}

// deletionWrites are those of the end of one of two resources: both counts, the configuration
// without the resource in between, and what is left of them.
func (s attachedTrial[T, A]) deletionWrites(t *testing.T) map[string]int {
	t.Helper()
	finalizer := "patch " + s.resource(t, s.kindOf(t))
	if s.Item == "" {
		return map[string]int{finalizer: 1, "delete jobs.batch": 1, "delete secrets": 1, "apply deployments.apps": 1}
	}
	return map[string]int{
		finalizer: 1, "create jobs.batch": 2, "delete jobs.batch": 2,
		"create configmaps": 1, "create secrets": 1, "apply deployments.apps": 1,
	}
}

// released returns nil if the service is ready without the resource.
func (s attachedTrial[T, A]) released(ctx context.Context, namespace string) error {
	names, err := s.observe(ctx, namespace)
	if err == nil && len(names) != len(s.others()) {
		err = fmt.Errorf("the service has %v", names)
	}
	return errors.Join(err, s.settled(ctx, namespace))
}

// settled returns nil if the service is ready, too.
func (s attachedTrial[T, A]) settled(ctx context.Context, namespace string) error {
	service := s.service(namespace)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return err
	}
	return Trial[T]{suite[T]{s.Service, s.World}.kind(suite[T]{s.Service, s.World}.modes()[0]), s.World}.readyNow(service)
}

// observe returns the names of what the service has.
func (s attachedTrial[T, A]) observe(ctx context.Context, namespace string) ([]string, error) {
	service := s.service(namespace)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range *service.Attached() {
		names = append(names, fmt.Sprintf("%s %s %t", entry.Name, entry.Phase, entry.Configuration != ""))
	}
	return names, nil
}

// attachedTo is a namespace with a service and resources, and an operator.
type attachedTo[T attachment.Holder, A attachment.Resource] struct {
	attachedTrial[T, A]
	object[A]
	service T
}

// start creates a namespace with the service and the named resources with their Secrets, and an
// operator. Nothing is waited for.
func (s attachedTrial[T, A]) start(t *testing.T, names ...string) *attachedTo[T, A] {
	t.Helper()
	k := s.kind(t)
	k.Inputs = func(namespace string) []client.Object { return append(s.inputs(namespace), s.service(namespace)) }
	o := Trial[A]{k, s.World}.prepared(t)
	a := &attachedTo[T, A]{s, *o, s.service(o.namespace())}
	objects.Create(t, s.Admin, s.resources(o.namespace(), names...)...)
	return a
}

// named returns the resource of the name.
func (a *attachedTo[T, A]) named(name string) A { return a.New(a.namespace(), name) }

// is waits for a condition of the named resource.
func (a *attachedTo[T, A]) is(name, conditionType string, status metav1.ConditionStatus, reason string, says ...string) {
	a.Helper()
	expect.Condition(a.T, a.Admin, a.named(name), conditionType, status, reason, says...)
}

// ready waits until the named resources are Ready.
func (a *attachedTo[T, A]) ready(names ...string) {
	a.Helper()
	for _, name := range names {
		a.is(name, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	}
}

// serviceIs waits for a condition of the service.
func (a *attachedTo[T, A]) serviceIs(conditionType string, status metav1.ConditionStatus, reason string, says ...string) {
	a.Helper()
	expect.Condition(a.T, a.Admin, a.service, conditionType, status, reason, says...)
}

// remove deletes the named resource and does not wait.
func (a *attachedTo[T, A]) remove(name string) {
	a.Helper()
	if err := a.Admin.Delete(a.Context(), a.named(name)); err != nil {
		a.Fatal(err)
	}
}

// gone waits until the named resource does not exist any more.
func (a *attachedTo[T, A]) gone(name string) {
	a.Helper()
	expect.Gone(a.T, a.Admin, client.Object(a.named(name)))
}

// entry waits until the entry of the named resource in the status of the service is as wanted.
func (a *attachedTo[T, A]) entry(name, what string, wanted func(*commonv1.Attached) bool) {
	a.Helper()
	expect.Object(a.T, a.Admin, a.service, func() error {
		entries := *a.service.Attached()
		i := slices.IndexFunc(entries, func(e commonv1.Attached) bool { return e.Name == name })
		var entry *commonv1.Attached
		if i >= 0 {
			entry = &entries[i]
		}
		if !wanted(entry) {
			return fmt.Errorf("the entry of %s is not %s: %+v", name, what, entries)
		}
		return nil
	})
}

// verifying sets what happens to the task that verifies the named resource.
func (a *attachedTo[T, A]) verifying(name string, outcome standin.Outcome) {
	a.Helper()
	resource := a.named(name)
	expect.Exists(a.T, a.Admin, client.Object(resource))
	a.Jobs.Set(a.namespace(), a.service.GetName()+"-"+attachment.VerificationName(resource.GetUID()), outcome)
}

// change gives the credentials of the named resource other values.
func (a *attachedTo[T, A]) change(name, value string) {
	a.Helper()
	objects.Change(a.T, a.Admin, a.Credentials(a.namespace(), name), func(secret *corev1.Secret) {
		secret.StringData = map[string]string{}
		for key := range secret.Data {
			secret.StringData[key] = value
		}
	})
}

// counting sets what happens to the task that counts what is stored in the named resource.
func (a *attachedTo[T, A]) counting(name string, outcome standin.Outcome) {
	a.Helper()
	resource := a.named(name)
	expect.Exists(a.T, a.Admin, client.Object(resource))
	a.Jobs.Set(a.namespace(), a.service.GetName()+"-"+attachment.TaskName(resource.GetUID()), outcome)
}
