package services

// All are the OpenStack services that a control plane can have. The first is
// the Identity service: K-ORC works on it, and the others come when there is a
// credential for it.
var All = List{Keystone, Placement}
