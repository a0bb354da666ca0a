package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// fitting refuses an object that cannot be read as its Go type with the path of each
// value that does not fit. A mutating webhook gets an object before its schema is checked,
// and the error of a decoder names Go types instead.
type fitting[T any] struct {
	admission.Handler
	refuse func(name string, errs field.ErrorList) *apierrors.StatusError
}

// Handle implements [admission.Handler].
func (f fitting[T]) Handle(ctx context.Context, request admission.Request) admission.Response {
	response := f.Handler.Handle(ctx, request)
	if response.Allowed || response.Result == nil || response.Result.Code != http.StatusBadRequest {
		return response
	}
	var raw any
	if json.Unmarshal(request.Object.Raw, &raw) != nil {
		return response
	}
	errs := misfits(raw, reflect.TypeFor[T](), nil)
	if len(errs) == 0 {
		return response
	}
	status := f.refuse(request.Name, errs).Status()
	response.Result = &status
	return response
}

// misfits returns the values of a JSON document that the Go type cannot hold. An error
// contains no value, since it may be a secret.
func misfits(value any, want reflect.Type, at *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if reflect.PointerTo(want).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return unreadable(value, want, at)
	}
	var errs field.ErrorList
	switch want.Kind() {
	case reflect.Pointer:
		return misfits(value, want.Elem(), at)
	case reflect.Struct:
		object, fits := value.(map[string]any)
		if !fits {
			return misfit(value, "an object", at)
		}
		return misfitsOfFields(object, want, at)
	case reflect.Map:
		object, fits := value.(map[string]any)
		if !fits {
			return misfit(value, "an object", at)
		}
		for key, element := range object {
			errs = append(errs, misfits(element, want.Elem(), at.Key(key))...)
		}
	case reflect.Slice:
		list, fits := value.([]any)
		if !fits {
			return unreadable(value, want, at)
		}
		for i, element := range list {
			errs = append(errs, misfits(element, want.Elem(), at.Index(i))...)
		}
	default:
		return unreadable(value, want, at)
	}
	return errs
}

func misfitsOfFields(object map[string]any, want reflect.Type, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for member := range want.Fields() {
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		switch {
		case name == "-" || !member.IsExported():
		case name != "":
			errs = append(errs, misfits(object[name], member.Type, at.Child(name))...)
		case member.Anonymous || strings.Contains(options, "inline"):
			errs = append(errs, misfitsOfFields(object, member.Type, at)...)
		}
	}
	return errs
}

// unreadable tries to read a value that has no fields of its own.
func unreadable(value any, want reflect.Type, at *field.Path) field.ErrorList {
	text, err := json.Marshal(value)
	if err == nil && json.Unmarshal(text, reflect.New(want).Interface()) == nil {
		return nil
	}
	_, isText := value.(string)
	switch kind := want.Kind(); {
	case kind == reflect.Bool:
		return misfit(value, "true or false", at)
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return misfit(value, "an integer", at)
	case kind == reflect.Slice:
		return misfit(value, "a list", at)
	case !isText:
		return misfit(value, "a string", at)
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "is not written as its type asks: see its documentation")}
}

func misfit(value any, want string, at *field.Path) field.ErrorList {
	got, remedy := "an object", ""
	switch value.(type) {
	case string:
		got, remedy = "a string", ": remove the quotes"
		if want == "an object" || want == "a list" {
			remedy = ""
		}
	case float64:
		got = "this number"
	case bool:
		got = "true or false"
	case []any:
		got = "a list"
	}
	switch {
	case want != "a string":
	case got == "this number" || got == "true or false":
		remedy = ": put it in quotes"
	case got == "a list" && strings.HasPrefix(at.String(), extraConfig+"["):
		remedy = ": " + ToLines
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("must be %s, not %s%s", want, got, remedy))}
}

const extraConfig = "spec.extraConfig"

// ToLines is what to do about an option that has several values.
const ToLines = "an option that may be given several times is written in the Secret of spec.extraConfigSecretRef, on a line for each value"
