package service

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationClaimedBy on an object with [commonv1.AnnotationDatabase] is the UID of the
// resource that has written that.
const AnnotationClaimedBy = "forge.c5c3.io/claimed-by"

// Irreplaceable returns the metadata of a Secret that cannot be made again and is of use
// only together with the database of the pass. See [secrets.Owned.Claim].
func Irreplaceable(p *Pass, name string) metav1.ObjectMeta {
	meta := p.Meta(name)
	meta.Annotations = map[string]string{
		commonv1.AnnotationDatabase: p.DatabaseIdentity().String(), AnnotationClaimedBy: string(p.Resource.GetUID()),
	}
	return meta
}

// OtherDatabase returns the identity of the database that the object belongs to if that is
// not the one of the pass, "" otherwise. An object without the annotation is of an earlier
// version, or of whoever removed it, and counts as that of the pass. One that this very
// resource has marked goes with it to the database that its spec names now.
func OtherDatabase(p *Pass, obj client.Object) string {
	text, marked := obj.GetAnnotations()[commonv1.AnnotationDatabase]
	if !marked || obj.GetAnnotations()[AnnotationClaimedBy] == string(p.Resource.GetUID()) {
		return ""
	}
	if database, ok := commonv1.ParseDatabaseIdentity(text); ok && database.Same(p.DatabaseIdentity()) {
		return ""
	}
	return text
}

// Claims reports whether this very resource has claimed the object, or controls it as in
// earlier versions.
func Claims(p *Pass, obj client.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(obj); controller != nil {
		return controller.UID == p.Resource.GetUID()
	}
	return obj.GetAnnotations()[AnnotationClaimedBy] == string(p.Resource.GetUID())
}
