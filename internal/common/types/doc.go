// Package types holds the parts of an API that several forge operators offer to their
// users, so that a database, a cache, an image or a Gateway is described the same way in
// every kind. It is imported as commonv1.
//
// Rules that apply wherever a type is used are markers here. A rule that only one kind
// has, such as the immutability of a region, is a marker on that kind's
// field. Likewise, a field that only one kind uses, such as the size of the database
// servers that a ControlPlane creates, is added by that kind around the shared type. The
// one exception is the number of cache servers: a service accepts and ignores it, so
// that a cache can be copied unchanged from a ControlPlane.
//
// +kubebuilder:object:generate=true
package types
