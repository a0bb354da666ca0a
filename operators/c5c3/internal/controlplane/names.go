// Package controlplane has the facts about a ControlPlane that the controllers of all the
// operator's kinds need.
package controlplane

import (
	"crypto/sha256"
	"encoding/hex"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// ManagedBy is the value of app.kubernetes.io/managed-by on everything that the operator
// creates. Its Secret cache selects by this label.
const ManagedBy = "c5c3-operator"

// Labels returns the labels of every object of a control plane.
func Labels(cp *c5c3v1alpha1.ControlPlane) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "controlplane", "app.kubernetes.io/instance": cp.Name, "app.kubernetes.io/managed-by": ManagedBy,
	}
}

// ChildMeta returns the metadata of an object of a control plane.
func ChildMeta(cp *c5c3v1alpha1.ControlPlane, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: cp.Namespace, Labels: Labels(cp)}
}

// Hash returns the hex SHA-256 of the text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ShortHash returns the first digits of the hash, for the name of an object.
func ShortHash(text string) string { return Hash(text)[:8] }
