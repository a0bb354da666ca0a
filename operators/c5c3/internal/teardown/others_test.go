package teardown

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestForeignKORCObjectsThatUseOurSecretsAreListed(t *testing.T) {
	cp := fixture.Minimal()
	project := func(name, secret string) *orcv1alpha1.Project {
		return &orcv1alpha1.Project{
			ObjectMeta: metav1.ObjectMeta{Namespace: cp.Namespace, Name: name},
			Spec:       orcv1alpha1.ProjectSpec{CloudCredentialsRef: orcv1alpha1.CloudCredentialsReference{SecretName: secret}},
		}
	}
	used := cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	ours := project("ours", used)
	if err := controllerutil.SetControllerReference(cp, ours, fixture.Scheme()); err != nil {
		t.Fatal(err)
	}
	elsewhere := project("elsewhere", used)
	elsewhere.Namespace = "another"
	objects := []client.Object{ours, elsewhere, project("independent", "another"), project("z", cp.PasswordCloudSecretName())}
	want := []string{}
	for n := range namedOthers + 1 {
		objects = append(objects, project(fmt.Sprintf("p%02d", n), used))
		want = append(want, fmt.Sprintf("Project p%02d", n))
	}
	want = append(want[:namedOthers], "2 more")
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(objects...).Build()
	got, err := describeOthers(t.Context(), pass.New(&pass.Tools{Access: kube.Access{ThirdParty: c}}, cp))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestUnwatchedKindsAreDerivedFromFinalizers(t *testing.T) {
	finalizers := []string{
		"openstack.k-orc.cloud/network", "openstack.k-orc.cloud/project", "example.com/network", "openstack.k-orc.cloud/applicationcredential",
	}
	if diff := cmp.Diff([]string{"probably objects of kind network"}, unwatched(finalizers)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if korc.Watches("network") || !korc.Watches("Role") {
		t.Error("it watches other kinds than it says")
	}
}
