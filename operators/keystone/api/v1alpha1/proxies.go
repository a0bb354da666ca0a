package v1alpha1

// ProxyAdvice says what to do when spec.networkPolicy lets in the namespace of the Gateway
// and nobody else, and "" otherwise.
func (k *Keystone) ProxyAdvice() string { return k.ServiceSpec().ProxyAdvice(k.Namespace) }
