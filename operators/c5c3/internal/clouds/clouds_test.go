package clouds

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const identity = "http://controlplane-keystone.openstack.svc:5000/v3"

func european() *c5c3v1alpha1.ControlPlane {
	cp := &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: "openstack"},
		Spec:       c5c3v1alpha1.ControlPlaneSpec{Region: "EU-West"},
	}
	cp.Spec.KORC.AdminCredential.CloudCredentialsRef = c5c3v1alpha1.CloudCredentialsRef{CloudName: "eu", SecretName: "clouds"}
	return cp
}

func TestCloudsYamlsMatchTheirGoldenFiles(t *testing.T) {
	cp := european()
	for name, build := range map[string]func() ([]byte, error){
		"seed":       func() ([]byte, error) { return Seed(identity, cp, "-p: \"w") },
		"password":   func() ([]byte, error) { return Password(identity, cp, "-p: \"w") },
		"credential": func() ([]byte, error) { return Credential(identity, cp, "id", "s3cret") },
	} {
		text, err := build()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, name+".yaml", string(text))
	}
}

func TestTheApplicationCredentialIsParsedFromACloudsYaml(t *testing.T) {
	text, err := Credential(identity, european(), "id", "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	if id, secret := CredentialIn(text); id != "id" || secret != "s3cret" {
		t.Errorf("got %q and %q", id, secret)
	}
	seed, err := Seed(identity, european(), "pw")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{nil, []byte("{"), seed} {
		if id, secret := CredentialIn(text); id != "" || secret != "" {
			t.Errorf("got %q and %q from %q", id, secret, text)
		}
	}
}
