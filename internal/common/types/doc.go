// Package types holds the parts of an API that more than one forge operator
// offers to its users, so that a database, a cache, an image or a Gateway is
// described the same way in every kind. It is imported as commonv1.
//
// The rules that hold wherever a type is used are markers here. A rule that
// only one kind has, such as the immutability of Keystone's database name,
// stands on that kind's field.
//
// +kubebuilder:object:generate=true
package types
