package deployment

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/service"
)

// TaskMeta returns the metadata of the pods of a Job or CronJob that run the image. The
// annotations may be nil.
func TaskMeta(d *service.Definition, instance, component, image string, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Labels: d.TaskLabels(instance, component), Annotations: requesting(image, annotations)}
}

// requesting adds to the annotations of a pod template which image it asks for.
func requesting(image string, annotations map[string]string) map[string]string {
	all := map[string]string{apply.RequestedImage: image}
	maps.Copy(all, annotations)
	return all
}
