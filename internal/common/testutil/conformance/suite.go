package conformance

import (
	"fmt"
	"slices"
	"strings"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/running"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// suite is a service in a world.
type suite[T service.Resource] struct {
	Service[T]
	*World
}

// mode is how the database is provided.
type mode string

const (
	brownfield mode = "an external database"
	managed    mode = "a managed database"
)

var modes = []mode{brownfield, managed}

// cluster is the MariaDB of the managed mode.
const cluster = "mariadb"

// userCheck is the suffix of the Job that checks the service user.
const userCheck = "service-user-check"

// make returns a resource of the mode, named after the service.
func (s suite[T]) make(namespace string, m mode) T {
	resource := s.New(namespace, s.Definition.CodeName)
	if m == managed {
		spec := resource.ServiceSpec()
		spec.Database.Host, spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: cluster}
	}
	return resource
}

// inputs returns the objects that a resource of the mode refers to.
func (s suite[T]) inputs(namespace string, m mode) []client.Object {
	if m != managed {
		return s.Inputs(namespace)
	}
	return append(s.Inputs(namespace), mariaDB(namespace))
}

func mariaDB(namespace string) *mariadbv1alpha1.MariaDB {
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}}
	server.Spec.Storage.Ephemeral = new(true)
	return server
}

// probe lets the API answer the operator's requests.
func (s suite[T]) probe(api *running.API) probe.Doer {
	if s.Probe == nil {
		return api
	}
	return s.Probe(api)
}

// readyNow returns nil if every condition is True for the current spec.
func (s suite[T]) readyNow(resource T) error {
	for _, condition := range s.positive() {
		found := meta.FindStatusCondition(resource.GetConditions(), condition.Type)
		switch {
		case found == nil:
			return fmt.Errorf("there is no condition %s", condition.Type)
		case found.Status != metav1.ConditionTrue:
			return fmt.Errorf("%s is %s/%s: %s", found.Type, found.Status, found.Reason, found.Message)
		case found.ObservedGeneration != resource.GetGeneration():
			return fmt.Errorf("%s is about generation %d of %d", found.Type, found.ObservedGeneration, resource.GetGeneration())
		}
	}
	return nil
}

// positive returns the conditions that are True if nothing is wrong.
func (s suite[T]) positive() []vocabulary.Condition {
	return slices.DeleteFunc(slices.Clone(s.Vocabulary.Conditions), func(c vocabulary.Condition) bool {
		return c.Type == vocabulary.ConditionReconciling || c.Type == vocabulary.ConditionStalled
	})
}

// wantChildren returns the expected children of a converged resource of the mode.
func (s suite[T]) wantChildren(m mode) []string {
	kinds := []string{
		"ConfigMap %s-config-HASH", "Deployment %s", "Job %s-db-sync", "Job %s-schema-check", "PodDisruptionBudget %s",
		"Secret %s-db-connection", "Service %s",
	}
	if m == managed {
		kinds = append(kinds, "Database %s", "Grant %s", "User %s")
	}
	if s.hasUser() {
		kinds = append(kinds, "Job %s-"+userCheck, "Secret %s-extra-config-HASH")
	}
	want := slices.Clone(s.Service.Children)
	for _, kind := range kinds {
		want = append(want, strings.ReplaceAll(kind, "%s", s.Definition.CodeName))
	}
	slices.Sort(want)
	return want
}

// hasUser reports whether the service has a service user.
func (s suite[T]) hasUser() bool {
	_, has := commonv1.ServiceUserOf(s.New("", ""))
	return has
}

// databaseSecret returns the name of the Secret with the database credentials.
func (s suite[T]) databaseSecret() string { return s.New("", "").ServiceSpec().Database.SecretRef.Name }
