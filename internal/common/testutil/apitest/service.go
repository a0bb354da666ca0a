package apitest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Describer is an object whose kind is that of an API service.
type Describer interface {
	client.Object
	commonv1.Describer
}

// Service describes the kind of an API service to the checks of the fields that all
// such kinds share.
type Service[T Describer] struct {
	// Selector returns the labels of the API pods of an instance.
	Selector func(name string) map[string]string
	// Policy is the name of a rule in the service's policy.
	Policy string
}

// managed replaces database and cache by references to resources in the cluster.
func managed(s *commonv1.ServiceSpec) {
	s.Database.Host, s.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
	s.Cache.Servers, s.Cache.ClusterRef = nil, &corev1.LocalObjectReference{Name: "memcached"}
}

func (s Service[T]) spread(object T) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: s.Selector(object.GetName())},
	}
}

func (s Service[T]) changing(change func(*commonv1.ServiceSpec)) func(T) {
	return func(object T) { change(object.ServiceSpec()) }
}

func (s Service[T]) spreading(change func(*corev1.TopologySpreadConstraint)) func(T) {
	return func(object T) {
		constraint := s.spread(object)
		change(&constraint)
		object.ServiceSpec().TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
	}
}
