package rotate

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// ApplicationCredential is the argument for the administrator's application credential.
const ApplicationCredential = "application-credential"

// Request returns the CredentialRotation that requests another application
// credential.
func Request(cp *c5c3v1alpha1.ControlPlane) *c5c3v1alpha1.CredentialRotation {
	return &c5c3v1alpha1.CredentialRotation{
		ObjectMeta: metav1.ObjectMeta{Namespace: cp.Namespace, GenerateName: cp.Name + "-manual-"},
		Spec: c5c3v1alpha1.CredentialRotationSpec{
			Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential, ReMint: true,
		},
	}
}

// CredentialID is the id of the application credential in use, "" when there is
// none.
func CredentialID(cp *c5c3v1alpha1.ControlPlane) string {
	if cp.Status.AdminApplicationCredential == nil {
		return ""
	}
	return cp.Status.AdminApplicationCredential.ID
}

// CheckControlPlane returns an error when there is no credential to replace.
func CheckControlPlane(cp *c5c3v1alpha1.ControlPlane) error {
	if CredentialID(cp) == "" {
		return fmt.Errorf("ControlPlane %s has no application credential yet: see \"kubectl forge status controlplane/%s\"", cp.Name, cp.Name)
	}
	return nil
}

// CredentialView describes the progress of replacing the credential with the id.
func CredentialView(request *c5c3v1alpha1.CredentialRotation, cp *c5c3v1alpha1.ControlPlane, before string) follow.View {
	view := follow.View{Title: "replacement of the application credential"}
	asked := request.Status.LastTriggeredGeneration == request.Generation
	row := follow.Row{Name: "Request", State: "Wait", Text: request.Name}
	if asked {
		row.State = "Done"
	} else if ready := meta.FindStatusCondition(request.Status.Conditions, vocabulary.ConditionReady); ready != nil {
		row.Text += ": " + ready.Message
		if ready.Status == metav1.ConditionFalse && ready.Reason != c5c3v1alpha1.ReasonWaitingForApplicationCredential {
			view.Failed = errors.New(ready.Message)
		}
	}
	view.Rows = append(view.Rows, row)
	replaced := asked && CredentialID(cp) != "" && CredentialID(cp) != before
	credential := follow.Row{Name: "Credential", State: "Wait", Text: "the one in use is " + before}
	if replaced {
		credential.State, credential.Text = "Done", CredentialID(cp)+" replaces "+before
	}
	view.Rows = append(view.Rows, credential)
	view.Rows = append(view.Rows, follow.ConditionRows(cp.Status.Conditions,
		c5c3v1alpha1.ConditionKORCReady, c5c3v1alpha1.ConditionAdminCredentialReady, vocabulary.ConditionReady)...)
	view.Done = replaced && meta.IsStatusConditionTrue(cp.Status.Conditions, vocabulary.ConditionReady)
	return view
}
