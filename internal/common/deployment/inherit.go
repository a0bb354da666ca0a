package deployment

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
)

// Inherit lets a Job count for the desired run key that an operator up to version 0.8.0 has
// run with the same image and the same options in Secrets, if same says so of the other files
// that it has read. Its own key is made of the name of their ConfigMap, which changes with
// each version of the operator. It makes requests only until the new key is recorded.
func Inherit(ctx context.Context, p *service.Pass, desired *batchv1.Job, same func(files map[string]string) bool) error {
	cached, err := p.Jobs.Find(ctx, p.Resource, desired.Name)
	if cached == nil || err != nil || cached.Annotations[job.RunKeyAnnotation] == desired.Annotations[job.RunKeyAnnotation] {
		return err
	}
	if _, succeeded, _ := job.Ended(cached); !succeeded {
		return nil
	}
	// The cache holds neither the volumes of a Job nor the content of configurations.
	live := &batchv1.Job{}
	if err := p.APIReader.Get(ctx, p.Key(desired.Name), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	read := configMapOf(live)
	key := []any{p.Spec.Image.Reference(), read}
	if given := service.Config.Value(p.Slots).Given; given != "" {
		key = append(key, given)
	}
	earlier, err := job.Hash(key)
	if err != nil || live.UID != cached.UID || live.Annotations[job.RunKeyAnnotation] != earlier {
		return err
	}
	files := &corev1.ConfigMap{}
	if err := p.APIReader.Get(ctx, p.Key(read), files); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(files, p.Resource) || !same(files.Data) {
		return nil
	}
	recorded := live.DeepCopy()
	recorded.Annotations[job.RunKeyAnnotation] = desired.Annotations[job.RunKeyAnnotation]
	return apply.Merge(ctx, p.Client, live, recorded, "recording what was checked by")
}

// configMapOf returns the name of the ConfigMap with the configuration that the Job has read,
// "" for none.
func configMapOf(live *batchv1.Job) string {
	for _, volume := range live.Spec.Template.Spec.Volumes {
		switch {
		case volume.Name != VolumeConfig:
		case volume.ConfigMap != nil:
			return volume.ConfigMap.Name
		case volume.Projected != nil:
			for _, source := range volume.Projected.Sources {
				if source.ConfigMap != nil {
					return source.ConfigMap.Name
				}
			}
		}
	}
	return ""
}
