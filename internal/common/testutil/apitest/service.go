package apitest

import (
	"reflect"

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
	// Policy is the name of a rule in the service's policy, if it has options.
	Policy string
}

// hasData reports whether the service has a database, and hasOptions whether it has options.
func (s Service[T]) hasData() bool    { return has[commonv1.DataDescriber, T]() }
func (s Service[T]) hasOptions() bool { return has[commonv1.OptionsDescriber, T]() }

// has reports whether objects of type T implement the interface.
func has[I, T any]() bool { return reflect.TypeFor[T]().Implements(reflect.TypeFor[I]()) }

func specOf[T Describer](object T) *commonv1.ServiceSpec    { return object.ServiceSpec() }
func dataOf[T Describer](object T) *commonv1.DataSpec       { return commonv1.DataOf(object) }
func optionsOf[T Describer](object T) *commonv1.OptionsSpec { return commonv1.OptionsOf(object) }

// managed replaces the cache and the database, if there is one, by references to resources in
// the cluster.
func (s Service[T]) managed(object T) {
	cache := &object.ServiceSpec().Cache
	cache.Servers, cache.ClusterRef = nil, &corev1.LocalObjectReference{Name: "memcached"}
	if data := dataOf(object); data != nil {
		data.Database.Host, data.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
	}
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
