package follow

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Ready is the view of an object that becomes ready.
func Ready(ref inventory.Ref, obj inventory.Conditioned) View {
	conditions := obj.GetConditions()
	return View{
		Title: fmt.Sprintf("%s in %s", ref.Arg(), ref.Namespace), Rows: ConditionRows(conditions),
		Done: meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady) && inventory.IsCurrent(obj),
	}
}

// ConditionRows returns the rows of conditions, or of those with the names. The message of a condition that
// summarises the others is omitted.
func ConditionRows(conditions []metav1.Condition, names ...string) []Row {
	rows := make([]Row, 0, len(conditions))
	for _, condition := range conditions {
		if len(names) > 0 && !slices.Contains(names, condition.Type) {
			continue
		}
		row := Row{Name: condition.Type, State: string(condition.Status), Text: condition.Reason}
		if condition.Status != metav1.ConditionTrue && !slices.Contains(inventory.Summaries, condition.Type) {
			row.Text += ": " + condition.Message
		}
		rows = append(rows, row)
	}
	return rows
}
