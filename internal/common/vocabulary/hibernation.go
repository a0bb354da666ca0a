package vocabulary

const (
	// AnnotationHibernated is on an object that is stopped because its resource hibernates.
	AnnotationHibernated = "forge.c5c3.io/hibernated"
	// HibernationManager is the field manager of what stops the objects of a resource that
	// hibernates.
	HibernationManager = "forge-hibernation"
)
