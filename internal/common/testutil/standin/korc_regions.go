package standin

// SetRegion sets the region of an endpoint in a namespace's Keystone, as users do
// without K-ORC. It reports whether the Keystone has the endpoint.
func (k *KORC) SetRegion(namespace, id, region string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	endpoint := k.keystone(namespace).byID(id)
	if endpoint == nil {
		return false
	}
	endpoint.region = region
	return true
}

// Regions returns the regions of the endpoints in a namespace's Keystone by
// interface and URL, "" for endpoints without a region.
func (k *KORC) Regions(namespace string) map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	regions := map[string]string{}
	for key, r := range k.resources[namespace] {
		if key.kind == "Endpoint" {
			regions[key.name] = r.region
		}
	}
	return regions
}
