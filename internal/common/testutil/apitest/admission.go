package apitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// TheSchemaAlone checks the behaviour without a webhook.
func (k Kind[T]) TheSchemaAlone(t *testing.T, s *Server) {
	t.Run("refuses", func(t *testing.T) { k.schemaRefuses(t, s) })
	t.Run("refuses what is out of bounds", func(t *testing.T) { k.schemaBounds(t, s) })
	t.Run("accepts what only the operator can refuse", func(t *testing.T) { k.schemaAccepts(t, s) })
	t.Run("applies the same defaults as the operator", func(t *testing.T) { k.schemaDefaults(t, s) })
	t.Run("an object is not current before the operator has observed it", func(t *testing.T) { k.unobserved(t, s) })
	t.Run("is listed with openstack and has no short name", func(t *testing.T) { k.names(t, s) })
	k.either(t, s)
}

// TheWebhook checks the behaviour with a webhook.
func (k Kind[T]) TheWebhook(t *testing.T, s *Server) {
	k.awaitWebhook(t, s)
	t.Run("refuses", func(t *testing.T) { k.webhookRefuses(t, s) })
	t.Run("refuses on update", func(t *testing.T) { k.webhookRefusesUpdate(t, s) })
	t.Run("corrects values by defaulting", func(t *testing.T) { k.webhookMends(t, s) })
	t.Run("refuses to delete what is protected", func(t *testing.T) { k.protection(t, s) })
	k.either(t, s)
}

// either checks the behaviour that does not depend on a webhook.
func (k Kind[T]) either(t *testing.T, s *Server) {
	t.Helper()
	t.Run("accepts", func(t *testing.T) { k.accepts(t, s) })
	t.Run("names the path of a value of another type", func(t *testing.T) { k.types(t, s) })
	t.Run("fills in each default", func(t *testing.T) { k.eachDefault(t, s) })
	t.Run("keeps immutable fields", func(t *testing.T) { k.immutable(t, s) })
	t.Run("does not block a deletion", func(t *testing.T) { k.deletion(t, s) })
}

// stored puts the base object, and returns a function that copies it. Tests send changed copies with
// dry-run: each is validated as a stored one would be, and two writes are spared.
func (k Kind[T]) stored(t *testing.T, s *Server) func() T {
	t.Helper()
	object := k.base()
	s.Put(t, object)
	return func() T { return object.DeepCopyObject().(T) }
}

func (k Kind[T]) schemaRefuses(t *testing.T, s *Server) {
	stored := k.stored(t, s)
	for _, v := range slices.Concat(k.Violations, k.Mended) {
		if v.Schema == "" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			path := v.Path
			if v.SchemaPath != "" {
				path = v.SchemaPath
			}
			object := k.changed(v.Change)
			object.SetNamespace(s.Namespace)
			expect.Invalid(t, s.Create(t.Context(), object, client.DryRunAll), path, v.Schema)
			if strings.HasPrefix(v.Path, "metadata.") {
				return
			}
			object = stored()
			v.Change(object)
			expect.Invalid(t, s.Update(t.Context(), object, client.DryRunAll), path, v.Schema)
		})
	}
}

// schemaBounds also tests violations that a Go client cannot send.
func (k Kind[T]) schemaBounds(t *testing.T, s *Server) {
	stored := make([]T, 0, len(k.Complete))
	for i, complete := range k.Complete {
		object := complete()
		object.SetName(fmt.Sprint("stored-", i))
		s.Put(t, object)
		stored = append(stored, object)
	}
	for _, b := range k.bounds(t) {
		t.Run(b.String(), func(t *testing.T) {
			path := strings.TrimSuffix(b.path, "[*]")
			fields, index := k.broken(t, b)
			raw := &unstructured.Unstructured{Object: fields}
			raw.SetNamespace(s.Namespace)
			expect.Invalid(t, s.Create(t.Context(), raw, client.DryRunAll), path, b.message)

			raw.SetName(stored[index].GetName())
			raw.SetResourceVersion(stored[index].GetResourceVersion())
			expect.Invalid(t, s.Update(t.Context(), raw, client.DryRunAll), path, b.message)
		})
	}
}

// schemaAccepts detects that a rule which only one kind has was moved to a type
// that several kinds share.
func (k Kind[T]) schemaAccepts(t *testing.T, s *Server) {
	for _, v := range k.Violations {
		if v.Schema == "" {
			t.Run(v.Name, func(t *testing.T) { s.Accept(t, k.changed(v.Change)) })
		}
	}
}

// schemaDefaults compares the schema's defaults with those in Go: an object must
// get the same ones from either.
func (k Kind[T]) schemaDefaults(t *testing.T, s *Server) {
	var optional []string
	for _, row := range k.DefaultRows {
		if row.Within != "" {
			optional = append(optional, row.Within)
		}
	}
	for _, object := range []T{k.Minimal(), k.fromMap(t, k.within(t, optional...))} {
		want := k.toMap(t, k.defaulted(object))["spec"]
		for _, path := range k.OperatorDefaults {
			unstructured.RemoveNestedField(want.(map[string]any), strings.Split(strings.TrimPrefix(path, "spec."), ".")...)
		}
		s.Put(t, object)
		if diff := cmp.Diff(want, k.toMap(t, object)["spec"]); diff != "" {
			t.Errorf("the schema's defaults differ from the operator's (-Go +schema):\n%s", diff)
		}
		if err := s.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// unobserved checks the field that kstatus, and through it Flux, compares with the
// generation: without a status, every object would count as reconciled.
func (k Kind[T]) unobserved(t *testing.T, s *Server) {
	object := k.Minimal()
	object.SetName("unobserved")
	s.Put(t, object)
	stored := &unstructured.Unstructured{Object: k.toMap(t, object)}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
		t.Fatal(err)
	}
	if got, _ := valueAt(stored.Object, "status.observedGeneration"); got != int64(-1) {
		t.Errorf("status.observedGeneration is %v, want -1", got)
	}
}

func (k Kind[T]) names(t *testing.T, s *Server) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.Get(t.Context(), client.ObjectKey{Name: k.definition(t).Name}, crd); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"openstack"}, crd.Spec.Names.Categories); diff != "" || len(crd.Spec.Names.ShortNames) != 0 {
		t.Errorf("categories %v, short names %v", crd.Spec.Names.Categories, crd.Spec.Names.ShortNames)
	}
	var columns []string
	for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, column.Name)
	}
	if diff := cmp.Diff(k.Columns, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// awaitWebhook waits until the API server calls the webhook.
func (k Kind[T]) awaitWebhook(t *testing.T, s *Server) {
	t.Helper()
	for _, v := range k.Violations {
		if v.Schema != "" {
			continue
		}
		expect.Eventually(t, "the webhook is asked", func(ctx context.Context) error {
			object := k.changed(v.Change)
			object.SetNamespace(s.Namespace)
			if err := s.Create(ctx, object, client.DryRunAll); !apierrors.IsInvalid(err) {
				return errors.Join(errors.New("the API server lets an object pass with: "+v.Name), err)
			}
			return nil
		})
		return
	}
}

func (k Kind[T]) webhookRefuses(t *testing.T, s *Server) {
	for _, v := range k.Violations {
		t.Run(v.Name, func(t *testing.T) {
			object := k.changed(v.Change)
			object.SetNamespace(s.Namespace)
			err := s.Create(t.Context(), object, client.DryRunAll)
			if v.Schema == "" {
				expect.Invalid(t, err, v.Path, v.Message)
			} else if !apierrors.IsInvalid(err) {
				t.Errorf("want Invalid, got %v", err)
			}
		})
	}
}

func (k Kind[T]) webhookRefusesUpdate(t *testing.T, s *Server) {
	stored := k.stored(t, s)
	for _, v := range k.Violations {
		if strings.HasPrefix(v.Path, "metadata.") {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			object := stored()
			v.Change(object)
			if err := s.Update(t.Context(), object, client.DryRunAll); !apierrors.IsInvalid(err) {
				t.Errorf("want Invalid, got %v", err)
			}
		})
	}
}

func (k Kind[T]) webhookMends(t *testing.T, s *Server) {
	for _, v := range k.Mended {
		t.Run(v.Name, func(t *testing.T) { s.Accept(t, k.changed(v.Change)) })
	}
}

func (k Kind[T]) protection(t *testing.T, s *Server) {
	object := k.Minimal()
	object.SetAnnotations(map[string]string{commonv1.AnnotationDeletionProtection: "true"})
	s.Put(t, object)
	if err := s.Delete(t.Context(), object); !apierrors.IsForbidden(err) {
		t.Errorf("want Forbidden, got %v", err)
	}
	object.SetAnnotations(nil)
	if err := s.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), object); err != nil {
		t.Errorf("without the annotation: %v", err)
	}
}

func (k Kind[T]) accepts(t *testing.T, s *Server) {
	t.Run("a minimal spec", func(t *testing.T) { s.Accept(t, k.Minimal()) })
	for name, change := range k.Accepted {
		t.Run(name, func(t *testing.T) { s.Accept(t, k.changed(change)) })
	}
}

// eachDefault omits a field from a new object, and then from a replacement of the
// stored one.
func (k Kind[T]) eachDefault(t *testing.T, s *Server) {
	for _, row := range k.DefaultRows {
		t.Run(row.Path, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: k.without(t, row)}
			s.Put(t, object)
			got, _ := valueAt(object.Object, row.Path)
			if diff := cmp.Diff(row.Want, got); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			again := &unstructured.Unstructured{Object: k.without(t, row)}
			again.SetNamespace(s.Namespace)
			again.SetResourceVersion(object.GetResourceVersion())
			if err := s.Update(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			got, _ = valueAt(again.Object, row.Path)
			if diff := cmp.Diff(row.Want, got); diff != "" {
				t.Errorf("replaced (-want +got):\n%s", diff)
			}
		})
	}
}

func (k Kind[T]) immutable(t *testing.T, s *Server) {
	stored := k.stored(t, s)
	for _, v := range k.Updates {
		t.Run(v.Name, func(t *testing.T) {
			object := stored()
			v.Change(object)
			expect.Invalid(t, s.Update(t.Context(), object, client.DryRunAll), v.Path, v.Message)
		})
	}
	for name, change := range k.Mutable {
		t.Run("but not "+name, func(t *testing.T) {
			object := stored()
			change(object)
			if err := s.Update(t.Context(), object, client.DryRunAll); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func (k Kind[T]) deletion(t *testing.T, s *Server) {
	object := k.Minimal()
	object.SetFinalizers([]string{"example.com/finalizer"})
	s.Put(t, object)
	if err := s.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	if k.Obsolete != nil {
		k.Obsolete(object)
	}
	object.SetFinalizers(nil)
	if err := s.Update(t.Context(), object); err != nil {
		t.Fatalf("an object that is being deleted is held up: %v", err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
		t.Errorf("want NotFound, got %v", err)
	}
}
