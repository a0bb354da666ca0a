package pushsecret

import (
	"fmt"
	"strings"
	"testing"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"

	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestAPushSecretCarriesNoSecret(t *testing.T) {
	source := fixture.Source("source", map[string]string{"password": "hunter2"})
	push := New(fixture.Minimal(), "push", source, esov1alpha1.PushSecretDeletionPolicyNone, esov1alpha1.PushSecretMatch{})
	if strings.Contains(fmt.Sprint(push), "hunter2") {
		t.Error("a PushSecret quotes what it pushes")
	}
}
