package service

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names names the objects of an instance.
type Names struct {
	namespace, instance string
	definition          *Definition
}

// Key returns the key of an object in the resource's namespace.
func (n Names) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: n.namespace, Name: name}
}

// Named returns the name of the instance's object with the suffix, such as "db-sync".
func (n Names) Named(suffix string) string { return n.instance + "-" + suffix }

// Meta returns the metadata of an object of the instance.
func (n Names) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: n.namespace, Labels: n.definition.Labels(n.instance)}
}
