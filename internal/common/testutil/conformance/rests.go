package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// rests verifies what can be observed of a resource that converges and is then left
// alone.
func (s suite[T]) rests(t *testing.T) {
	for _, m := range modes {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			i := s.converged(t, m)
			for _, proof := range []struct {
				name string
				run  func(*Instance[T], mode)
			}{
				{"every condition is true", (*Instance[T]).conditions},
				{"every child is controlled and labelled", (*Instance[T]).owned},
				{"pods check their own readiness", (*Instance[T]).readiness},
				{"pods accept large requests", (*Instance[T]).largeRequests},
				{"no password leaves a Secret", (*Instance[T]).keepsPasswords},
				{"a pass makes no request", (*Instance[T]).quiet},
				{"each child was written once and the status rarely", (*Instance[T]).writes},
				{"only referenced objects were read", (*Instance[T]).reads},
				{"events mark transitions only", (*Instance[T]).events},
				{"each declared kind is watched once and no other", (*Instance[T]).watches},
				{"a restarted operator writes nothing", (*Instance[T]).restarts},
			} {
				t.Run(proof.name, func(t *testing.T) { proof.run(i.in(t), m) })
			}
		})
	}
}

// notRequired maps conditions to the reason if the spec does not ask for the feature, or if
// the stand-ins do not tell what is in an image. Other conditions have the first of their
// reasons.
var notRequired = map[string]string{
	vocabulary.ConditionNetworkPolicyReady: vocabulary.ReasonNetworkPolicyNotRequired,
	vocabulary.ConditionHTTPRouteReady:     vocabulary.ReasonHTTPRouteNotRequired,
	vocabulary.ConditionHPAReady:           vocabulary.ReasonHPANotRequired,
	vocabulary.ConditionReleaseConsistent:  vocabulary.ReasonReleaseUnknown,
}

func (i *Instance[T]) conditions(mode) {
	for _, condition := range i.positive() {
		reason, found := notRequired[condition.Type]
		if !found {
			reason = condition.True[0]
		}
		i.Condition(condition.Type, metav1.ConditionTrue, reason)
	}
	for _, condition := range i.Resource.GetConditions() {
		if condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != i.Resource.GetGeneration() {
			i.Errorf("%s is %s, about generation %d of %d",
				condition.Type, condition.Status, condition.ObservedGeneration, i.Resource.GetGeneration())
		}
	}
	for _, abnormal := range []string{vocabulary.ConditionReconciling, vocabulary.ConditionStalled} {
		if left := meta.FindStatusCondition(i.Resource.GetConditions(), abnormal); left != nil {
			i.Errorf("left over from the way to Ready: %+v", left)
		}
	}
	status := i.Resource.ServiceStatus().DeepCopy()
	status.Conditions = nil
	if diff := cmp.Diff(&commonv1.ServiceStatus{
		ObservedGeneration: i.Resource.GetGeneration(), InstalledRelease: i.Resource.ServiceSpec().Image.Tag, Endpoint: i.Endpoint(i.namespace()),
		Images: []commonv1.ImageStatus{{Reference: i.Resource.ServiceSpec().Image.Reference()}},
	}, status); diff != "" {
		i.Errorf("status (-want +got):\n%s", diff)
	}
}

// controller returns the reference of an object that the resource controls.
func (i *Instance[T]) controller() metav1.OwnerReference {
	i.Helper()
	gvk, err := i.Admin.GroupVersionKindFor(i.Resource)
	if err != nil {
		i.Fatal(err)
	}
	return *metav1.NewControllerRef(i.Resource, gvk)
}

func (i *Instance[T]) owned(m mode) {
	found := i.children()
	if diff := cmp.Diff(i.wantChildren(m), slices.Sorted(slices.Values(children.Names(found)))); diff != "" {
		i.Errorf("children (-want +got):\n%s", diff)
	}
	controller := i.controller()
	for _, child := range found {
		owners, goesWithDatabase := []metav1.OwnerReference{controller}, false
		switch {
		case i.irreplaceable(child):
			owners, goesWithDatabase = nil, true
		case child.Kind == "PushSecret" && len(child.OwnerReferences) > 1:
			source := child.OwnerReferences[1]
			if source.Kind != "Secret" || !slices.Contains(i.Irreplaceable, source.Name) {
				i.Errorf("%s also belongs to %s %s", child, source.Kind, source.Name)
			}
			owners, goesWithDatabase = append(owners, source), true
		}
		if got, want := child.Annotations[commonv1.AnnotationDatabase], i.identity().String(); goesWithDatabase && got != want {
			i.Errorf("%s belongs to database %q, want %q", child, got, want)
		}
		if diff := cmp.Diff(owners, child.OwnerReferences); diff != "" {
			i.Errorf("owners of %s (-want +got):\n%s", child, diff)
		}
		labels := map[string]string{}
		for _, key := range []string{service.LabelInstance, service.LabelManagedBy} {
			labels[key] = child.Labels[key]
		}
		want := map[string]string{service.LabelInstance: i.name(), service.LabelManagedBy: i.Definition.ManagedBy()}
		if diff := cmp.Diff(want, labels); diff != "" {
			i.Errorf("labels of %s (-want +got):\n%s", child, diff)
		}
	}
}

// irreplaceable reports whether the child cannot be recreated once it is lost.
func (s suite[T]) irreplaceable(child children.Child) bool {
	return child.Kind == "Secret" && slices.Contains(s.Irreplaceable, child.Name)
}

func (i *Instance[T]) quiet(mode) {
	i.settle()
	for range 5 {
		if requests := i.pass(); len(requests) > 0 {
			i.Errorf("a pass took %d requests:\n%s", len(requests), requests)
		}
	}
}

// writes checks the writes until Ready: one create or apply per child, and the patches of
// the resource for its finalizers and for the counted schema Jobs, which may share one.
func (i *Instance[T]) writes(m mode) {
	writes := i.Operator.Requests.All().Needed().Writes()
	made := map[string]int{}
	for _, write := range writes {
		made[write.Kind().String()]++
	}
	resource := i.resourceOf(i.T, i.Definition.Kind)
	for what, limits := range map[string][2]int{"update " + resource + "/status": {1, i.statusWrites(m)}, "patch " + resource: {2, 3}} {
		if times := made[what]; times < limits[0] || times > limits[1] {
			i.Errorf("%d times %s, expected %v of\n%s", times, what, limits, writes)
		}
		delete(made, what)
	}
	if diff := cmp.Diff(i.childWrites(i.T, m), made); diff != "" {
		i.Errorf("writes of children (-want +got):\n%s\nof\n%s", diff, writes)
	}
}

// statusWrites returns how often the status may be written; a managed database adds a
// wait.
func (s suite[T]) statusWrites(m mode) int {
	if m == managed {
		return s.StatusWrites + 1
	}
	return s.StatusWrites
}

// resourceOf returns the resource of the kind, as in "jobs.batch".
func (s suite[T]) resourceOf(t *testing.T, kind string) string {
	t.Helper()
	gvk, err := children.Kind(kind), error(nil)
	if kind == s.Definition.Kind {
		gvk, err = s.Admin.GroupVersionKindFor(s.New("", ""))
	}
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := s.Admin.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(mapping.Resource.Resource+"."+gvk.Group, ".")
}

// childWrites counts the expected writes of the children of a resource of the mode, by
// kind of write.
func (s suite[T]) childWrites(t *testing.T, m mode) map[string]int {
	t.Helper()
	writes := map[string]int{}
	for _, child := range s.wantChildren(m) {
		kind, _, _ := strings.Cut(child, " ")
		verb := "apply "
		if slices.Contains([]string{"ConfigMap", "Job", "Secret"}, kind) {
			verb = "create "
		}
		writes[verb+s.resourceOf(t, kind)]++
	}
	return writes
}

func (i *Instance[T]) reads(mode) {
	read := map[string]int{}
	for _, r := range i.Operator.Requests.All().Needed() {
		if r.Resource != "" && r.Verb == "get" {
			read[r.Resource+" "+r.Name]++
		}
	}
	want := map[string]int{}
	for _, input := range i.Inputs(i.namespace()) {
		want["secrets "+input.GetName()] = 1
	}
	if diff := cmp.Diff(want, read); diff != "" {
		i.Errorf("reads from the API server (-want +got):\n%s", diff)
	}
}

func (i *Instance[T]) events(mode) {
	want := map[string]int{}
	for _, reason := range append([]string{vocabulary.EventDatabaseSynced}, i.Events...) {
		want[corev1.EventTypeNormal+" "+reason] = 1
	}
	if diff := cmp.Diff(want, i.Operator.Announced()); diff != "" {
		i.Errorf("announced (-want +got):\n%s", diff)
	}
	for event := range want {
		i.event(event, 1)
	}
}

// always are the watches that an operator of one namespace has for every service. All
// watched objects are kept in memory; a second watch of a kind keeps them twice.
var always = []string{
	"configmaps.", "pods.", "secrets.", "services.", "deployments.apps", "horizontalpodautoscalers.autoscaling", "jobs.batch",
	"networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy",
	// Objects that users refer to.
	"configmaps., metadata", "secrets., metadata",
	// Kinds of other projects.
	"mariadbs.k8s.mariadb.com", "databases.k8s.mariadb.com", "users.k8s.mariadb.com", "grants.k8s.mariadb.com",
	"certificates.cert-manager.io", "httproutes.gateway.networking.k8s.io", "externalsecrets.external-secrets.io",
}

func (i *Instance[T]) watches(mode) {
	want := map[string]int{i.resourceOf(i.T, i.Definition.Kind): 1}
	for _, resource := range slices.Concat(always, i.Watches) {
		want[resource] = 1
	}
	for _, kind := range sharing.Others(i.Definition.Kind) {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		want[plural.Resource+"."+plural.Group] = 1
	}
	watching := i.Operator.Requests.Watching()
	maps.DeleteFunc(watching, func(_ string, open int) bool { return open == 0 })
	if diff := cmp.Diff(want, watching); diff != "" {
		i.Errorf("open watches by kind (-declared +open):\n%s", diff)
	}
}

func (i *Instance[T]) restarts(mode) {
	before := i.Resource.DeepCopyObject().(T)
	expect.Exists(i.T, i.Admin, client.Object(before))
	i.restart()
	i.settle()
	if writes := i.Operator.Requests.All().Writes(); len(writes) > 0 {
		i.Errorf("a restart took %d writes:\n%s", len(writes), writes)
	}
	if events := i.Operator.Announced(); len(events) > 0 {
		i.Errorf("a restart was announced: %v", events)
	}
	expect.Exists(i.T, i.Admin, client.Object(i.Resource))
	if diff := cmp.Diff(before.StatusCopy(), i.Resource.StatusCopy()); diff != "" {
		i.Errorf("status (-before +after the restart):\n%s", diff)
	}
}
