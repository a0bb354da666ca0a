package v1alpha1

// SetObservedGeneration records the generation that the status describes.
func (k *Keystone) SetObservedGeneration(generation int64) {
	k.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (k *Keystone) StatusCopy() any {
	return *k.Status.DeepCopy()
}
