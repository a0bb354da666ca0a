package types

// SetIfZero fills in the default of a field that is not set.
func SetIfZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (c *CacheSpec) SetDefaults() {
	SetIfZero(&c.Backend, DefaultCacheBackend)
	SetIfZero(&c.Replicas, DefaultCacheReplicas)
}

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (d *DatabaseSpec) SetDefaults() {
	if d.TLS != nil {
		SetIfZero(&d.TLS.Mode, DatabaseTLSRequire)
	}
}
