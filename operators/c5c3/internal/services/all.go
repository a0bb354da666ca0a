package services

// All lists the OpenStack services that a control plane can have. The first is the
// Identity service: K-ORC works on it, and the others follow once there is a credential
// for it.
var All = List{Keystone, Barbican, Placement, Glance, Horizon}
