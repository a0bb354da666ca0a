package apply

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/digest"
)

// rewritten records what the API server made of applied fields if admission, such as a
// policy of the cluster, changed them. Applying them again would lead to the same.
var rewritten memo

// Converged reports whether applying desired with fieldManager would leave
// live as it is.
func Converged(live, desired client.Object, fieldManager string) (bool, error) {
	wanted, err := desiredFields(desired)
	if err != nil {
		return false, err
	}
	dropIdentity(wanted)
	version := desired.GetObjectKind().GroupVersionKind().GroupVersion().String()
	same, made, err := compare(live, wanted, fieldManager, version)
	return same || made != (verdict{}) && rewritten.has(live.GetUID(), made), err
}

// noteRewrite records the result of an apply whose fields have other values there.
func noteRewrite(result client.Object, wanted map[string]any, fieldManager string) error {
	dropIdentity(wanted)
	version := result.GetObjectKind().GroupVersionKind().GroupVersion().String()
	same, made, err := compare(result, wanted, fieldManager, version)
	if same || err != nil || made == (verdict{}) {
		return err
	}
	rewritten.note(result.GetUID(), made, time.Now())
	return nil
}

// compare reports whether the live object has exactly the wanted fields of the manager.
// Otherwise made identifies what it has instead; it is zero if the manager has no fields.
func compare(live client.Object, wanted map[string]any, fieldManager, version string) (same bool, made verdict, err error) {
	entry := applied(live, fieldManager, version)
	if entry == nil {
		return false, verdict{}, nil
	}
	owned, err := fieldsOf(live, entry)
	if err != nil {
		return false, verdict{}, err
	}
	has, condensed := condensedValues(entry)
	if !condensed {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		if err != nil {
			return false, verdict{}, fmt.Errorf("converting %s: %w", kindOf(live), err)
		}
		has = valuesOf(owned, fields)
	}
	if wants(owned, wanted, has) {
		return true, verdict{}, nil
	}
	text := string(encoded(wanted)) + "\n" + fieldManager + "\n" + recorded(live, entry) + "\n" + has.text()
	return false, verdict(digest.Of([]byte(text))), nil
}
