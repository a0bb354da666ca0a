// Package korc manages the K-ORC objects of a control plane, and removes their resources
// in Keystone.
package korc

import (
	"fmt"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Object is an object of K-ORC.
type Object interface {
	client.Object
	orcv1alpha1.ObjectWithConditions
}

// kinds are the kinds a control plane needs.
var kinds = []string{"ApplicationCredential", "Domain", "User", "Service", "Endpoint", "Project", "Role"}

func ofKORC(name string) schema.GroupVersionKind {
	return orcv1alpha1.SchemeGroupVersion.WithKind(name)
}

// MissingKind returns the first of the kinds that the cluster does not serve, "" if it
// serves all.
func MissingKind(s *pass.Pass) string {
	for _, kind := range kinds {
		if !s.Kinds.Served(ofKORC(kind)) {
			return kind
		}
	}
	return ""
}

// Remedy is the advice for an object with a terminal error.
const Remedy = "correct what K-ORC reports there; it is retried with increasing delays"

// State is what K-ORC reports about an object.
type State struct {
	// Available means that the resource is as the current spec asks.
	Available bool
	// Failed means that K-ORC does not try again.
	Failed bool
	// Since is when this state began.
	Since time.Time
	// Message is K-ORC's own explanation.
	Message string
}

// StateOf reads the state from the conditions of the object.
func StateOf(obj Object) State {
	available := meta.FindStatusCondition(obj.GetConditions(), orcv1alpha1.ConditionAvailable)
	state := State{
		Available: available != nil && available.Status == metav1.ConditionTrue && available.ObservedGeneration == obj.GetGeneration(),
		Failed:    orcv1alpha1.GetTerminalError(obj) != nil,
	}
	if progressing := meta.FindStatusCondition(obj.GetConditions(), orcv1alpha1.ConditionProgressing); progressing != nil {
		state.Message, state.Since = progressing.Message, progressing.LastTransitionTime.Time
	}
	return state
}

// Describe names an object and quotes K-ORC's message about it.
func Describe(obj Object) string {
	name := fmt.Sprintf("%s %s", KindName(obj), obj.GetName())
	switch message := strings.Join(strings.Fields(StateOf(obj).Message), " "); {
	case !obj.GetDeletionTimestamp().IsZero() && message == "":
		return name + " (being deleted)"
	case message == "":
		return name + " (K-ORC has not processed it yet)"
	default:
		return fmt.Sprintf("%s (%s)", name, message)
	}
}

// ID returns the id of an entry of the catalog in Keystone, "" if K-ORC has not said it.
func ID(entry Object) string {
	switch entry := entry.(type) {
	case *orcv1alpha1.Service:
		return ptr.Deref(entry.Status.ID, "")
	case *orcv1alpha1.Endpoint:
		return ptr.Deref(entry.Status.ID, "")
	}
	return ""
}

// KindName returns the kind of the object, such as "Endpoint".
func KindName(obj Object) string {
	name := fmt.Sprintf("%T", obj)
	return name[strings.LastIndex(name, ".")+1:]
}
