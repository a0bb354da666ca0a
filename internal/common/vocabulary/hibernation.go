package vocabulary

const (
	// AnnotationHibernated on a Deployment says that it has no pods because its resource
	// hibernates.
	AnnotationHibernated = "forge.c5c3.io/hibernated"
	// HibernationManager is the field manager of what stops the objects of a resource that
	// hibernates.
	HibernationManager = "forge-hibernation"
)
