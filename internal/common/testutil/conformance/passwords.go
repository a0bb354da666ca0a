package conformance

import (
	"encoding/json"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keepsPasswords looks for the passwords of the resource in what everyone with access to
// the namespace can read.
func (i *Instance[T]) keepsPasswords(mode) {
	readable := []any{i.Resource}
	for _, list := range []client.ObjectList{
		&corev1.ConfigMapList{}, &appsv1.DeploymentList{}, &batchv1.JobList{}, &batchv1.CronJobList{}, &corev1.EventList{},
	} {
		if err := i.Admin.List(i.Context(), list, client.InNamespace(i.namespace())); err != nil {
			i.Fatal(err)
		}
		readable = append(readable, list)
	}
	for _, input := range i.Inputs(i.namespace()) {
		secret, ok := input.(*corev1.Secret)
		if !ok {
			continue
		}
		confidential := maps.Clone(secret.StringData)
		delete(confidential, "username")
		if len(confidential) == 0 {
			i.Fatalf("Secret %s has no password to look for", secret.Name)
		}
		for key, password := range confidential {
			i.conceals(readable, "the "+key+" of Secret "+secret.Name, password)
		}
	}
}

// conceals verifies that nothing readable has the password.
func (i *Instance[T]) conceals(readable []any, what, password string) {
	i.Helper()
	// oslo.config takes a dollar sign only when it is doubled.
	for _, written := range []string{password, strings.ReplaceAll(password, "$", "$$")} {
		for _, objects := range readable {
			text, err := json.Marshal(objects)
			if err != nil {
				i.Fatal(err)
			}
			if strings.Contains(string(text), written) {
				i.Errorf("%T has %s", objects, what)
			}
		}
	}
}
