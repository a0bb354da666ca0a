package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
)

func TestThePassHidesWhatItKnowsFromTools(t *testing.T) {
	s := &scope{
		Pass:        service.NewPass(&service.Tools{Jobs: &job.Runner{}}, &definition, minimal()),
		credentials: credentials{databasePassword: []byte("db password"), adminPassword: []byte("admin password")},
		connection:  connection{used: "mysql://used", next: "mysql://next"},
		logins:      loginPlan{known: map[string][]byte{"former": []byte("former password")}},
	}
	s.hideOptions(secretOptions{
		options: config.INI{"ldap": {"password": "ldap password", "page_size": "100"}},
		copied:  &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "copy"}},
	})
	hidden := s.runner().Hidden
	for _, want := range []string{"db password", "admin password", "mysql://used", "mysql://next", "former password", "ldap password"} {
		if !slices.Contains(hidden, want) {
			t.Errorf("%q is not hidden", want)
		}
	}
	if slices.Contains(hidden, "100") {
		t.Error("a number is hidden, and with it every other one in an error")
	}
	if len(s.Jobs.Hidden) > 0 {
		t.Error("the values of one Keystone reach the passes of others")
	}
}
