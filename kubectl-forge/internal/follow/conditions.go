package follow

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
)

// Conditioned is a ControlPlane or a Keystone.
type Conditioned interface {
	metav1.Object
	GetConditions() []metav1.Condition
}

// Ready is the view of an object that becomes ready. The generation is the
// one that the operator has last observed.
func Ready(ref inventory.Ref, obj Conditioned, observed int64) View {
	conditions := obj.GetConditions()
	return View{
		Title: fmt.Sprintf("%s in %s", ref.Arg(), ref.Namespace),
		Rows:  ConditionRows(conditions),
		Done: meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady) &&
			observed == obj.GetGeneration() && obj.GetDeletionTimestamp() == nil,
	}
}

// ConditionRows returns the rows of conditions. The message of a condition that
// summarises the others is omitted.
func ConditionRows(conditions []metav1.Condition) []Row {
	rows := make([]Row, 0, len(conditions))
	for _, condition := range conditions {
		row := Row{Name: condition.Type, State: string(condition.Status), Colour: show.Green, Text: condition.Reason}
		summary := condition.Type == vocabulary.ConditionReady ||
			condition.Type == vocabulary.ConditionReconciling || condition.Type == vocabulary.ConditionStalled
		if condition.Status != metav1.ConditionTrue {
			row.Colour = show.Red
			if !summary {
				row.Text += ": " + condition.Message
			}
		} else if condition.Type != vocabulary.ConditionReady && summary {
			row.Colour = show.Yellow
		}
		rows = append(rows, row)
	}
	return rows
}
