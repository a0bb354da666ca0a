package admission

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

var (
	_ admission.Defaulter[*corev1.ConfigMap] = &Webhook[*corev1.ConfigMap]{}
	_ admission.Validator[*corev1.ConfigMap] = &Webhook[*corev1.ConfigMap]{}
)

// boats is the webhook of a kind with all functions. A boat has a crew (three by default,
// never none) and a home port that must not change, and lies in a port that exists.
func boats(ports ...client.Object) *Webhook[*corev1.ConfigMap] {
	return &Webhook[*corev1.ConfigMap]{
		Object:   &corev1.ConfigMap{},
		Kind:     schema.GroupKind{Group: "sea", Kind: "Boat"},
		Resource: schema.GroupResource{Group: "sea", Resource: "boats"},
		Spec:     func(boat *corev1.ConfigMap) any { return boat.Data },
		Defaults: func(boat *corev1.ConfigMap) {
			if boat.Data == nil {
				boat.Data = map[string]string{}
			}
			if boat.Data["crew"] == "" {
				boat.Data["crew"] = "3"
			}
		},
		Rules: func(boat *corev1.ConfigMap) field.ErrorList {
			if boat.Data["crew"] != "0" {
				return nil
			}
			return field.ErrorList{field.Invalid(field.NewPath("data", "crew"), "0", "it does not sail by itself")}
		},
		Limits: rules.Limits[*corev1.ConfigMap]{rules.Text("data.cargo",
			func(boat *corev1.ConfigMap) string { return boat.Data["cargo"] },
			func(cargo string, at *field.Path) field.ErrorList {
				if cargo != "whales" {
					return nil
				}
				return field.ErrorList{field.Invalid(at, cargo, "it sinks")}
			},
		)},
		UpdateRules: func(old, updated *corev1.ConfigMap) field.ErrorList {
			if old.Data["home"] == updated.Data["home"] {
				return nil
			}
			return field.ErrorList{field.Forbidden(field.NewPath("data", "home"), "home is immutable")}
		},
		Lookup: func(ctx context.Context, reader client.Reader, old, updated *corev1.ConfigMap) field.ErrorList {
			port := updated.Data["port"]
			if port == "" || old != nil && old.Data["port"] == port {
				return nil
			}
			if reader.Get(ctx, client.ObjectKey{Name: port}, &corev1.Namespace{}) == nil {
				return nil
			}
			return field.ErrorList{field.NotFound(field.NewPath("data", "port"), port)}
		},
		Warnings: func(_ context.Context, _ client.Reader, boat *corev1.ConfigMap) []string {
			if boat.Data["crew"] == "13" {
				return []string{"", "thirteen are too many"}
			}
			return []string{""}
		},
		Reader: fake.NewClientBuilder().WithObjects(ports...).Build(),
	}
}

func boat(words ...string) *corev1.ConfigMap {
	data := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		data[name] = value
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "albatros"}, Data: data}
}

// causes returns the fields that an error of type Invalid is about.
func causes(t *testing.T, err error) (fields []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("want Invalid, got %v", err)
	}
	details := status.Status().Details
	if details.Group != "sea" || details.Kind != "Boat" || details.Name != "albatros" {
		t.Errorf("the error is about %+v", details)
	}
	for _, cause := range details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func TestAllValidationErrorsAreReportedTogether(t *testing.T) {
	_, err := boats().ValidateCreate(t.Context(), boat("crew=0", "port=Rungholt"))
	if diff := cmp.Diff([]string{"data.crew", "data.port"}, causes(t, err)); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	_, err = boats().ValidateUpdate(t.Context(), boat("home=Kiel"), boat("home=Husum", "crew=0", "port=Rungholt"))
	if diff := cmp.Diff([]string{"data.crew", "data.home", "data.port"}, causes(t, err)); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
}

func TestALimitDoesNotRejectUnchangedValues(t *testing.T) {
	_, err := boats().ValidateCreate(t.Context(), boat("cargo=whales"))
	if diff := cmp.Diff([]string{"data.cargo"}, causes(t, err)); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	_, err = boats().ValidateUpdate(t.Context(), boat("cargo=salt"), boat("cargo=whales"))
	if diff := cmp.Diff([]string{"data.cargo"}, causes(t, err)); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	if _, err = boats().ValidateUpdate(t.Context(), boat("cargo=whales"), boat("cargo=whales", "crew=5")); err != nil {
		t.Errorf("a cargo that was accepted holds up a change of the crew: %v", err)
	}
}

func TestALookupDoesNotRejectAnUnchangedReference(t *testing.T) {
	stored, updated := boat("port=Rungholt"), boat("port=Rungholt", "crew=5")
	if _, err := boats().ValidateUpdate(t.Context(), stored, updated); err != nil {
		t.Errorf("a port that is gone holds up a change of the crew: %v", err)
	}
	port := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kiel"}}
	if _, err := boats(port).ValidateUpdate(t.Context(), stored, boat("port=kiel")); err != nil {
		t.Errorf("a port that there is: %v", err)
	}
}

func TestAnUpdateIsComparedWithTheDefaultedOldObject(t *testing.T) {
	stored, labelled := boat("port=Rungholt", "home=Kiel"), boat("port=Rungholt", "home=Kiel", "crew=3")
	labelled.Labels = map[string]string{"a": "b"}
	webhook := boats()
	webhook.Rules = func(*corev1.ConfigMap) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("data", "sail"), "a rule newer than the object")}
	}
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); err != nil {
		t.Errorf("a label is refused: %v", err)
	}
	if _, set := stored.Data["crew"]; set {
		t.Error("the stored object was changed")
	}
	labelled.Data["crew"] = "4"
	if _, err := webhook.ValidateUpdate(t.Context(), stored, labelled); !apierrors.IsInvalid(err) {
		t.Errorf("want Invalid for a changed spec, got %v", err)
	}
	webhook.Spec = nil
	if _, err := webhook.ValidateUpdate(t.Context(), stored, stored); !apierrors.IsInvalid(err) {
		t.Errorf("want Invalid for any update of a kind without a spec, got %v", err)
	}
}

func TestAnObjectThatIsBeingDeletedIsNotChecked(t *testing.T) {
	deleted := boat("home=Husum", "crew=0", "port=Rungholt")
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	if _, err := boats().ValidateUpdate(t.Context(), boat("home=Kiel"), deleted); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestWarningsAreReturnedForAcceptedAndRejectedObjects(t *testing.T) {
	for name, object := range map[string]*corev1.ConfigMap{
		"accepted": boat("crew=13"), "refused": boat("crew=13", "port=Rungholt"),
	} {
		warnings, err := boats().ValidateCreate(t.Context(), object)
		if diff := cmp.Diff(admission.Warnings{"thirteen are too many"}, warnings); diff != "" {
			t.Errorf("%s with %v (-want +got):\n%s", name, err, diff)
		}
	}
	if warnings, err := boats().ValidateCreate(t.Context(), boat()); err != nil || warnings != nil {
		t.Errorf("got %q and %v", warnings, err)
	}
}

func TestAKindMayHaveNoRulesAtAll(t *testing.T) {
	none := &Webhook[*corev1.ConfigMap]{Object: &corev1.ConfigMap{}}
	object := boat("crew=0")
	if err := none.Default(t.Context(), object); err != nil || object.Data["crew"] != "0" {
		t.Errorf("got %v and %v", object.Data, err)
	}
	if warnings, err := none.ValidateCreate(t.Context(), object); err != nil || warnings != nil {
		t.Errorf("created: %q, %v", warnings, err)
	}
	if warnings, err := none.ValidateUpdate(t.Context(), object, boat("crew=1")); err != nil || warnings != nil {
		t.Errorf("updated: %q, %v", warnings, err)
	}
}

func TestDeletionProtectionBlocksDelete(t *testing.T) {
	for value, protected := range map[string]bool{"true": true, "false": false, "": false, "yes": false} {
		object := boat()
		object.Annotations = map[string]string{commonv1.AnnotationDeletionProtection: value}
		_, err := boats().ValidateDelete(t.Context(), object)
		if apierrors.IsForbidden(err) != protected {
			t.Errorf("%q: got %v", value, err)
		}
		if protected && !strings.Contains(err.Error(), "remove the annotation forge.c5c3.io/deletion-protection") {
			t.Errorf("it does not say what to do: %v", err)
		}
	}
	if _, err := boats().ValidateDelete(t.Context(), boat()); err != nil {
		t.Errorf("without annotations: %v", err)
	}
}
