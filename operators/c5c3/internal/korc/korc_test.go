package korc

import (
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestOnlyConditionsOfTheCurrentGenerationCount(t *testing.T) {
	condition := func(conditionType, status, reason string, generation int64) metav1.Condition {
		return metav1.Condition{
			Type: conditionType, Status: metav1.ConditionStatus(status), Reason: reason, Message: "m", ObservedGeneration: generation,
		}
	}
	for name, c := range map[string]struct {
		conditions        []metav1.Condition
		available, failed bool
	}{
		"nothing yet": {},
		"there":       {[]metav1.Condition{condition("Available", "True", "Success", 2)}, true, false},
		"there for an earlier spec": {
			[]metav1.Condition{condition("Available", "True", "Success", 1)}, false, false,
		},
		"failed permanently": {
			[]metav1.Condition{condition("Progressing", "False", "InvalidConfiguration", 2)}, false, true,
		},
		"failed for an earlier generation": {
			[]metav1.Condition{condition("Progressing", "False", "UnrecoverableError", 1)}, false, false,
		},
		"still trying": {[]metav1.Condition{condition("Progressing", "True", "TransientError", 2)}, false, false},
	} {
		obj := &orcv1alpha1.Service{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		obj.Status.Conditions = c.conditions
		if got := StateOf(obj); got.Available != c.available || got.Failed != c.failed {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestTheCredentialOfAServiceIsLeftToItsUser(t *testing.T) {
	credential := &orcv1alpha1.ApplicationCredential{}
	credential.Labels = map[string]string{c5c3v1alpha1.LabelServiceUser: "placement"}
	if onDelete(credential) != orcv1alpha1.OnDeleteDetach {
		t.Error("K-ORC searches all users for the credential in order to delete it")
	}
}

func TestOnlyCredentialsAreDeletedInOpenStack(t *testing.T) {
	for _, obj := range []Object{
		&orcv1alpha1.Service{Spec: orcv1alpha1.ServiceSpec{ManagedOptions: Detached()}},
		&orcv1alpha1.Endpoint{Spec: orcv1alpha1.EndpointSpec{ManagedOptions: Detached()}},
		&orcv1alpha1.Project{Spec: orcv1alpha1.ProjectSpec{ManagedOptions: Detached()}},
		&orcv1alpha1.Role{Spec: orcv1alpha1.RoleSpec{ManagedOptions: Detached()}},
	} {
		if options := managedOptions(obj); (*options).GetOnDelete() != orcv1alpha1.OnDeleteDetach || onDelete(obj) != orcv1alpha1.OnDeleteDetach {
			t.Errorf("deleting a %s deletes what it stands for", KindName(obj))
		}
	}
	if onDelete(&orcv1alpha1.ApplicationCredential{}) != orcv1alpha1.OnDeleteDelete {
		t.Error("deleting a credential does not revoke it")
	}
}
