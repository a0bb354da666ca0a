package attachment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
)

// filesBase is the label of the Secrets with the files of resources.
const filesBase = "attached"

// Files declares what pods read about a resource in files of its own. Each resource has them in a
// Secret that is named after its configuration. So pods keep the files of a resource that cannot
// be used as it is now, and those of the others change meanwhile.
type Files[A Resource] struct {
	// Render returns the files by name. The error names what cannot be used, and no value.
	Render func(Accepted[A]) (map[string]string, error)
	// Volume is the name of the volume, Folder the path at which it is mounted, and Mounted selects the
	// files that pods read there, below the folder.
	Volume, Folder string
	Mounted        func(A) []corev1.KeyToPath
}

// secretName returns the name of the Secret with the files of a configuration.
func (d Declaration[A]) secretName(p *service.Pass, resource A, configuration string) string {
	return p.Named(resource.GetName() + "-" + configuration[:min(8, len(configuration))])
}

// writeFiles makes sure that the Secret with the files of the resource exists.
func (d Declaration[A]) writeFiles(ctx context.Context, p *service.Pass, a Accepted[A]) error {
	desired := &corev1.Secret{ObjectMeta: p.Meta(a.secret), Immutable: ptr.To(true), Type: corev1.SecretTypeOpaque}
	desired.Labels = maps.Clone(desired.Labels)
	desired.Labels[config.BaseLabel] = config.BaseLabelValue(p.Named(filesBase))
	desired.Data = map[string][]byte{}
	for name, content := range a.Files {
		desired.Data[name] = []byte(content)
	}
	if err := p.Owned.EnsureData(ctx, p.Resource, desired); err != nil {
		return fmt.Errorf("the files of %s %s: %w", d.kind(), a.Resource.GetName(), err)
	}
	return nil
}

// kept returns the resource as pods have it, false if its files are gone.
func (d Declaration[A]) kept(ctx context.Context, p *service.Pass, resource A, configuration string) (Accepted[A], bool, error) {
	a := Accepted[A]{Resource: resource, Configuration: configuration, Files: map[string]string{}, isKept: true}
	a.secret = d.secretName(p, resource, configuration)
	found, err := p.Owned.Find(ctx, p.Key(a.secret))
	if found == nil || err != nil || !service.ControlledBy(found, p.Resource) {
		return a, false, err
	}
	for name, content := range found.Data {
		a.Files[name] = string(content)
	}
	return a, true, nil
}

// Mounts returns the mount of the files of the accepted resources, none without any.
func (d Declaration[A]) Mounts(p *service.Pass) []deployment.Mount {
	return d.MountsAt(p, d.Files.Volume, d.Files.Folder, func(a Accepted[A]) []corev1.KeyToPath { return d.Files.Mounted(a.Resource) })
}

// MountsAt returns a mount of the files of the accepted resources that the function selects, none
// without any. It is for pods that read them in several places.
func (d Declaration[A]) MountsAt(
	p *service.Pass, volume, folder string, mounted func(Accepted[A]) []corev1.KeyToPath,
) []deployment.Mount {
	var sources []corev1.VolumeProjection
	for _, a := range d.Accepted.Value(p.Slots) {
		if files := mounted(a); len(files) > 0 {
			sources = append(sources, deployment.SecretProjection(a.secret, files...))
		}
	}
	if len(sources) == 0 {
		return nil
	}
	return []deployment.Mount{deployment.ProjectedMount(volume, folder, sources...)}
}

// pruneFiles removes the Secrets that no pod mounts any more. It runs once all pods have the
// accepted resources.
func (d Declaration[A]) pruneFiles(ctx context.Context, p *service.Pass, needed []Accepted[A]) error {
	if d.Files == nil {
		return nil
	}
	all, err := apply.List[client.Object](ctx, p.Client, &corev1.SecretList{}, client.InNamespace(p.Resource.GetNamespace()),
		client.MatchingLabels{config.BaseLabel: config.BaseLabelValue(p.Named(filesBase))})
	if err != nil {
		return fmt.Errorf("listing the files of what belongs to %s: %w", p.Resource.GetName(), err)
	}
	for _, secret := range all {
		named := func(a Accepted[A]) bool { return a.secret == secret.GetName() }
		if !metav1.IsControlledBy(secret, p.Resource) || slices.ContainsFunc(needed, named) {
			continue
		}
		if err := apply.Delete(ctx, p.Client, secret); err != nil {
			return err
		}
	}
	return nil
}
