package v1alpha1

// ProxyAdvice returns advice if spec.networkPolicy admits only the namespace of the Gateway, and "" otherwise.
func (k *Keystone) ProxyAdvice() string { return k.ServiceSpec().ProxyAdvice(k.Namespace) }
