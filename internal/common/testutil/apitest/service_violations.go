package apitest

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// partViolation is a [Violation] of the fields in a part of the spec that the kinds of
// several API services share.
type partViolation[P any] struct {
	Name               string
	Change             func(*P)
	Path, Message      string
	Schema, SchemaPath string
}

// The parts of a spec: that of all services, that of services with a database, and that of
// services with options.
type (
	serviceViolation = partViolation[commonv1.ServiceSpec]
	dataViolation    = partViolation[commonv1.DataSpec]
	optionsViolation = partViolation[commonv1.OptionsSpec]
)

// converted returns the violations for objects with the part.
func converted[T client.Object, P any](rows []partViolation[P], part func(T) *P) []Violation[T] {
	all := make([]Violation[T], 0, len(rows))
	for _, row := range rows {
		all = append(all, Violation[T]{
			Name: row.Name, Change: func(object T) { row.Change(part(object)) },
			Path: row.Path, Message: row.Message, Schema: row.Schema, SchemaPath: row.SchemaPath,
		})
	}
	return all
}

// backingViolations concern the image and the cache.
var backingViolations = []serviceViolation{
	{
		"negative replicas", func(s *commonv1.ServiceSpec) { s.Replicas = -1 },
		"spec.replicas", "replicas must be at least 1", TooSmall, "",
	},
	{
		"no image name", func(s *commonv1.ServiceSpec) { s.Image.Repository = "" },
		"spec.image.repository", "Required value", TooShort, "",
	},
	{
		"an image name with a tag", func(s *commonv1.ServiceSpec) { s.Image.Repository = "example.com/service:2025.2" },
		"spec.image.repository", "must be an image name without a tag", NoMatch, "",
	},
	{
		"an image name in upper case", func(s *commonv1.ServiceSpec) { s.Image.Repository = "example.com/Service" },
		"spec.image.repository", "must be an image name without a tag", NoMatch, "",
	},
	{
		"no image tag", func(s *commonv1.ServiceSpec) { s.Image.Tag = "" },
		"spec.image.tag", "Required value", NoMatch, "",
	},
	{
		"an image digest of another kind", func(s *commonv1.ServiceSpec) { s.Image.Digest = "sha1:0123" },
		"spec.image.digest", "must be sha256: and 64 hexadecimal digits", NoMatch, "",
	},
	{
		"an image tag with a slash", func(s *commonv1.ServiceSpec) { s.Image.Tag = "2025/2" },
		"spec.image.tag", "must be at most 128", NoMatch, "",
	},
	{
		"a cache in both modes", func(s *commonv1.ServiceSpec) { s.Cache.ClusterRef = &corev1.LocalObjectReference{Name: "memcached"} },
		"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
	},
	{
		"a cache in no mode", func(s *commonv1.ServiceSpec) { s.Cache.Servers = nil },
		"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
	},
	{
		"a cache cluster without a name", func(s *commonv1.ServiceSpec) {
			s.Cache = commonv1.CacheSpec{ClusterRef: &corev1.LocalObjectReference{}}
		},
		"spec.cache.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.cache",
	},
	{
		"a cache backend with a line break", func(s *commonv1.ServiceSpec) { s.Cache.Backend = "x\n[DEFAULT]" },
		"spec.cache.backend", "must be the name of a dogpile.cache backend", NoMatch, "",
	},
	{
		"two cache servers in one entry", func(s *commonv1.ServiceSpec) { s.Cache.Servers = []string{"a:11211,b:11211"} },
		"spec.cache.servers[0]", "without white space or commas", NoMatch, "",
	},
	{
		"negative cache replicas", func(s *commonv1.ServiceSpec) { s.Cache.Replicas = -1 },
		"spec.cache.replicas", "replicas must be at least 1", TooSmall, "",
	},
	{
		"too many cache replicas", func(s *commonv1.ServiceSpec) { s.Cache.Replicas = 101 },
		"spec.cache.replicas", "replicas must be at most 100", TooLarge, "",
	},
	{
		"too many replicas", func(s *commonv1.ServiceSpec) { s.Replicas = 1001 },
		"spec.replicas", "replicas must be at most 1000", TooLarge, "",
	},
}
