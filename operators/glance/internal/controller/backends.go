package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/attachment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

type (
	backend  = glancev1alpha1.GlanceBackend
	accepted = attachment.Accepted[*backend]
)

// backends declares GlanceBackends. The location of an image names the store that it is in.
var backends = attachment.Declaration[*backend]{
	For: &backend{}, List: &glancev1alpha1.GlanceBackendList{}, AddToScheme: glancev1alpha1.AddToScheme,
	Field: "spec.glanceRef.name", Finalizer: "glance.openstack.c5c3.io/in-use",
	Service: &glancev1alpha1.Glance{}, Definition: &definition,
	Guard: func(b *backend) error {
		return glancev1alpha1.ValidateBackend(b).ToAggregate()
	},
	Spec:          func(b *backend) any { return b.Spec },
	Identity:      identity,
	Credentials:   credentials,
	Options:       backendOptions,
	SecretOptions: backendSecrets,
	Accepted:      reconcile.NewSlot[[]accepted]("Backends"),
	Lacks:         lacks,
	Usage: &attachment.Usage{
		Database: glanceDatabase,
		Query: "SELECT COUNT(DISTINCT image_id) FROM image_locations WHERE deleted = 0 " +
			`AND JSON_VALUE(meta_data, '$.store') = :name`,
		Items:  "images",
		Remedy: "delete them, or copy them to another store and delete their locations here, and the deletion goes on",
	},
}

// identity returns the place in which a backend stores images, as far as it is known.
func identity(b *backend) string {
	switch spec := b.Spec; {
	case spec.S3 != nil:
		return "bucket " + spec.S3.Bucket + " of " + spec.S3.Host
	case spec.File != nil:
		return "PersistentVolumeClaim " + spec.File.Claim
	}
	return ""
}

// credentials returns the Secret that a backend needs. The spec may be invalid.
func credentials(b *backend) *service.Requirement {
	switch spec := b.Spec; {
	case spec.S3 != nil:
		return &service.Requirement{
			Name: spec.S3.CredentialsSecretRef.Name, Keys: []string{"accessKey", "secretKey"}, Field: "spec.s3.credentialsSecretRef",
		}
	case spec.OptionsSecretRef != nil:
		return &service.Requirement{Name: spec.OptionsSecretRef.Name, Field: "spec.optionsSecretRef"}
	}
	return nil
}

// lacks returns what a Glance lacks that has these backends only.
func lacks(resource service.Resource, all []accepted) string {
	glance, ok := resource.(*glancev1alpha1.Glance)
	if !ok {
		return ""
	}
	wanted := glance.Spec.DefaultBackend
	named := func(a accepted) bool { return a.Resource.Name == wanted }
	switch {
	case len(all) == 0:
		return fmt.Sprintf("create a GlanceBackend whose spec.glanceRef.name is %s", glance.Name)
	case wanted != "" && !slices.ContainsFunc(all, named):
		return fmt.Sprintf("spec.defaultBackend names the GlanceBackend %s, which is not in use: create it, or name another one", wanted)
	}
	return ""
}

// backendOptions returns the options for the backends, without secret ones.
func backendOptions(p *service.Pass, all []accepted) ini.File {
	options, types := ini.File{}, make([]string, 0, len(all))
	for _, a := range all {
		types = append(types, a.Resource.Name+":"+a.Resource.Spec.Type)
		options[a.Resource.Name] = storeOptions(a.Resource)
	}
	options.Set("DEFAULT", "enabled_backends", strings.Join(types, ","))
	options.Set("glance_store", "default_backend", defaultBackend(p.Resource, all))
	return options
}

// defaultBackend returns the name of the backend in the spec, or that of the oldest one that is not
// being deleted.
func defaultBackend(resource service.Resource, all []accepted) string {
	glance, ok := resource.(*glancev1alpha1.Glance)
	if ok && glance.Spec.DefaultBackend != "" || len(all) == 0 {
		return glance.Spec.DefaultBackend
	}
	return slices.MinFunc(all, func(a, b accepted) int {
		first, second := a.Resource.CreationTimestamp, b.Resource.CreationTimestamp
		return cmp.Or(ending(a)-ending(b), first.Compare(second.Time), cmp.Compare(a.Resource.Name, b.Resource.Name))
	}).Resource.Name
}

// ending is 1 for a backend that is being deleted, and 0 for another one.
func ending(a accepted) int {
	if a.Resource.DeletionTimestamp.IsZero() {
		return 0
	}
	return 1
}

func storeOptions(b *backend) map[string]string {
	switch spec := b.Spec; {
	case spec.S3 != nil:
		return s3Options(spec.S3)
	case spec.File != nil:
		return map[string]string{"filesystem_store_datadir": backendDir + b.Name}
	}
	return b.Spec.Options
}

func s3Options(s3 *glancev1alpha1.S3Spec) map[string]string {
	scheme := "https://"
	if s3.TLS != nil && !*s3.TLS {
		scheme = "http://"
	}
	options := map[string]string{
		"s3_store_host": scheme + s3.Host, "s3_store_bucket": s3.Bucket, "s3_store_bucket_url_format": "path",
		// The driver reads an image that is smaller into memory as a whole, and takes one whose size a
		// client does not say for one of 0 bytes. It accepts a negative size, but not 0.
		"s3_store_large_object_size": "-1",
	}
	if s3.Region != "" {
		options["s3_store_region_name"] = s3.Region
	}
	return options
}

// backendSecrets returns the secret options of a backend.
func backendSecrets(a accepted) ini.File {
	options := map[string]string{}
	if a.Resource.Spec.S3 != nil {
		options["s3_store_access_key"], options["s3_store_secret_key"] =
			string(a.Credentials.Data["accessKey"]), string(a.Credentials.Data["secretKey"])
		return ini.File{a.Resource.Name: options}
	}
	for key, value := range a.Credentials.Data {
		options[key] = string(value)
	}
	return ini.File{a.Resource.Name: options}
}
