package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/children"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// rests verifies what can be observed of a resource that converges and is then left
// alone.
func (s suite[T]) rests(t *testing.T) {
	for _, m := range s.modes() {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			i := s.converged(t, m)
			i.settle()
			for _, proof := range []struct {
				name string
				run  func(*Instance[T], mode)
			}{
				{"the status shows the release and the endpoint", (*Instance[T]).status},
				{"every child is controlled and labelled", (*Instance[T]).owned},
				{"pods check their own readiness", (*Instance[T]).readiness},
				{"pods accept large requests", (*Instance[T]).largeRequests},
				{"no password leaves a Secret", (*Instance[T]).keepsPasswords},
				{"each child was written once", (*Instance[T]).writes},
				{"only referenced objects were read", (*Instance[T]).reads},
			} {
				t.Run(proof.name, func(t *testing.T) { proof.run(i.in(t), m) })
			}
			i.object.rests()
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

func (i *Instance[T]) status(mode) {
	status := i.Resource.ServiceStatus().DeepCopy()
	status.Conditions = nil
	status.KeysHash = "" // It is that of random keys.
	want := &commonv1.ServiceStatus{
		ObservedGeneration: i.Resource.GetGeneration(), InstalledRelease: i.Resource.ServiceSpec().Image.Tag, Endpoint: i.Endpoint(i.namespace()),
	}
	if i.hasData() {
		// The Jobs of the schema look into the image.
		want.Images = []commonv1.ImageStatus{{Reference: i.Resource.ServiceSpec().Image.Reference()}}
	}
	if diff := cmp.Diff(want, status); diff != "" {
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
		if got, want := child.Annotations[commonv1.AnnotationDatabase], i.identity().String(); goesWithDatabase && i.hasData() && got != want {
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

// writes checks the writes until Ready apart from the status: one create or apply per child,
// and, of a service with a database, the patches of the resource for its finalizers and for the
// counted schema Jobs, which may share one.
func (i *Instance[T]) writes(m mode) {
	writes := i.Operator.Requests.All().Needed().Writes()
	made := map[string]int{}
	for _, write := range writes {
		made[write.Kind().String()]++
	}
	resource := i.resource()
	if patches := made["patch "+resource]; i.hasData() && (patches < 2 || patches > 3) {
		i.Errorf("%d patches of the resource, expected 2 or 3 of\n%s", patches, writes)
	}
	for _, written := range append(i.attached(), resource) {
		delete(made, "patch "+written)
		delete(made, "update "+written+"/status")
	}
	if diff := cmp.Diff(i.childWrites(i.T, m), made); diff != "" {
		i.Errorf("writes of children (-want +got):\n%s\nof\n%s", diff, writes)
	}
}

// attached returns the resources of what the operator reconciles beside the service, such as its
// stores.
func (i *Instance[T]) attached() []string {
	var all []string
	for _, input := range i.Inputs(i.namespace()) {
		if _, ok := input.(reconcile.Object); !ok {
			continue
		}
		gvk, err := i.Admin.GroupVersionKindFor(input)
		if err != nil {
			i.Fatal(err)
		}
		all = append(all, i.suite.World.resource(i.T, gvk))
	}
	return all
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
	return s.resource(t, gvk)
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
		if _, ok := input.(*corev1.Secret); ok {
			want["secrets "+input.GetName()] = 1
		}
	}
	if diff := cmp.Diff(want, read); diff != "" {
		i.Errorf("reads from the API server (-want +got):\n%s", diff)
	}
}
