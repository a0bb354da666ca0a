package types

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (c *CacheSpec) SetDefaults() {
	if c.Backend == "" {
		c.Backend = DefaultCacheBackend
	}
	if c.Replicas == 0 {
		c.Replicas = DefaultCacheReplicas
	}
}

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (d *DatabaseSpec) SetDefaults() {
	if d.TLS != nil && d.TLS.Mode == "" {
		d.TLS.Mode = DatabaseTLSRequire
	}
}
