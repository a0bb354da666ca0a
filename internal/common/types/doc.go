// Package types holds the parts of an API that more than one forge operator
// offers to its users, so that a database, a cache, an image or a Gateway is
// described the same way in every kind. It is imported as commonv1.
//
// The rules that hold wherever a type is used are markers here. A rule that
// only one kind has, such as the immutability of Keystone's database name,
// stands on that kind's field. Likewise a field that only one kind acts on, such
// as the size of the database servers a ControlPlane creates, is added by that
// kind around the shared type. The one exception is the number of cache
// servers: a Keystone accepts and ignores it, so that a cache can be copied from
// a ControlPlane as it is.
//
// +kubebuilder:object:generate=true
package types
