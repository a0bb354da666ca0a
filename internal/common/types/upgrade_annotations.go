package types

// Annotations on the resource of a service that concern its upgrade.
const (
	// AnnotationOfflineUpgrade requests that the upgrade to the image tag in its value is
	// offline: the API is stopped, the database migrated by whatever number of releases it
	// takes, and the API started again.
	AnnotationOfflineUpgrade = "forge.c5c3.io/offline-upgrade"
	// AnnotationHoldUpgrade keeps the offline upgrade to the image tag in its value from
	// migrating the database once the API is stopped.
	AnnotationHoldUpgrade = "forge.c5c3.io/hold-upgrade"
)
