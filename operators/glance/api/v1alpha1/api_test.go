package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const configDir = "../../config"

// minimal returns the least a user has to write.
func minimal() *Glance {
	return &Glance{
		ObjectMeta: metav1.ObjectMeta{Name: "glance", Namespace: "openstack"},
		Spec: GlanceSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/glance", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "glance", SecretRef: commonv1.SecretRefSpec{Name: "glance-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "glance-user"},
		},
	}
}

type violation apitest.Violation[*Glance]

func violations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(p *Glance) { p.Name = "1.glance" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for a Job", func(p *Glance) { p.Name = strings.Repeat("p", 41) },
			"metadata.name", "name must be no longer than 40 characters", "name must be no longer than 40 characters", "Invalid value",
		},
		{
			"no space for imports", func(p *Glance) { p.Spec.StagingSize = new(resource.MustParse("0")) },
			"spec.stagingSize", "stagingSize must be more than 0", "", "",
		},
		{
			"a schedule that is no cron expression", func(p *Glance) { p.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "tomorrow", MinDays: 1} },
			"spec.cleanUp.schedule", "invalid cron expression", "", "",
		},
		{
			"a clean-up of what was deleted tomorrow", func(p *Glance) { p.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "@daily", MinDays: -1} },
			"spec.cleanUp.minDays", "must be between 1 and 36500 days", "greater than or equal to 1", "",
		},
		{
			"nowhere to download from", func(p *Glance) { p.Spec.WebDownload = &WebDownloadSpec{} },
			"spec.webDownload.allowedHosts", "name the hosts", "Required value", "",
		},
		{
			"an address to download from", downloading("169.254.169.254"),
			"spec.webDownload.allowedHosts[0]", "an address is not allowed", "", "",
		},
		{
			"a metadata service to download from", downloading("metadata.google.internal"),
			"spec.webDownload.allowedHosts[0]", "names of the cluster and of metadata services are not allowed", "", "",
		},
		{
			"a Service to download from", downloading("secrets.other.svc.k8s.example.com"),
			"spec.webDownload.allowedHosts[0]", "names of the cluster and of metadata services are not allowed", "", "",
		},
		{
			"a URL to download from", downloading("https://images.example.com"),
			"spec.webDownload.allowedHosts[0]", "it must be the name of a host", "", "",
		},
	}
}

func downloading(host string) func(*Glance) {
	return func(p *Glance) { p.Spec.WebDownload = &WebDownloadSpec{AllowedHosts: []string{host}} }
}

func glances() apitest.Kind[*Glance] {
	return apitest.Service[*Glance]{
		Selector: SelectorLabels,
		Policy:   "get_images",
	}.Completed(apitest.Kind[*Glance]{
		Definition: configDir + "/crd/bases/glance.openstack.c5c3.io_glances.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete: []func() *Glance{func() *Glance {
			p := minimal()
			p.Spec.DefaultBackend = "images"
			p.Spec.StagingSize = new(resource.MustParse("5Gi"))
			p.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "@daily", Suspend: true, MinDays: 30}
			downloading("images.example.com")(p)
			return p
		}},
		DefaultRows: []apitest.Default{
			{Path: "spec.stagingSize", Want: "20Gi"},
			{Path: "spec.cleanUp.schedule", Want: "30 3 * * *"},
			{Path: "spec.cleanUp.suspend", Want: false},
			{Path: "spec.cleanUp.minDays", Want: int64(90)},
		},
		KubernetesFields: []string{"spec.stagingSize"},

		Rules:       slices.Concat(table, Limits.Table()),
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		Violations: apitest.Violations(violations()),
		Accepted: map[string]func(*Glance){
			"the longest name":       func(p *Glance) { p.Name = strings.Repeat("p", 40) },
			"hosts to download from": downloading("images.example.com"),
		},
		Obsolete: func(p *Glance) { p.Spec.PriorityClassName = new("Gone_Class") },
		Words:    []string{"glance"},
	})
}

// minimalBackend returns the least a user has to write.
func minimalBackend() *GlanceBackend {
	return &GlanceBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "images", Namespace: "openstack"},
		Spec: GlanceBackendSpec{
			GlanceRef: commonv1.ServiceReference{Name: "glance"},
			BackendSpec: BackendSpec{Type: BackendS3, S3: &S3Spec{
				Host: "s3.example.com", Bucket: "images", CredentialsSecretRef: commonv1.CredentialsReference{Name: "images"},
			}},
		},
	}
}

// ofType returns a function for a backend of another type.
func ofType(of string) func() *GlanceBackend {
	return func() *GlanceBackend {
		b := minimalBackend()
		b.Spec.Type, b.Spec.S3 = of, nil
		if of == BackendFile {
			b.Spec.File = &FileSpec{Claim: "images"}
			return b
		}
		b.Spec.Options, b.Spec.OptionsSecretRef = map[string]string{"pool": "images"}, &commonv1.CredentialsReference{Name: "images"}
		return b
	}
}

type backendViolation apitest.Violation[*GlanceBackend]

func backendViolations() []backendViolation {
	const name, fields = "name must be that of a store", "the type needs its own field and no other"
	return []backendViolation{
		{"a name that no store has", func(b *GlanceBackend) { b.Name = "1.images" }, "metadata.name", name, name, "Invalid value"},
		{"a long name", func(b *GlanceBackend) { b.Name = strings.Repeat("b", 41) }, "metadata.name", name, name, "Invalid value"},
		{"the name of a section", func(b *GlanceBackend) { b.Name = "database" }, "metadata.name", name, name, "Invalid value"},
		{"the bucket of another type", func(b *GlanceBackend) { b.Spec.File = &FileSpec{Claim: "a"} }, "spec.type", fields, fields, ""},
		{
			"options of another type", func(b *GlanceBackend) { b.Spec.Options = map[string]string{"a": "b"} },
			"spec.type", fields, fields, "",
		},
		{
			"secret options of another type", func(b *GlanceBackend) {
				b.Spec.OptionsSecretRef = &commonv1.CredentialsReference{Name: "a"}
			}, "spec.type", fields, fields, "",
		},
		{
			"a URL in place of a host", func(b *GlanceBackend) { b.Spec.S3.Host = "https://s3.example.com" },
			"spec.s3.host", "it must be a host without a scheme", apitest.NoMatch, "",
		},
		{
			"no bucket", func(b *GlanceBackend) { b.Spec.S3.Bucket = "A" },
			"spec.s3.bucket", "it must be the name of a bucket", apitest.NoMatch, "",
		},
		{
			"no Glance", func(b *GlanceBackend) { b.Spec.GlanceRef.Name = "" },
			"spec.glanceRef.name", "name the Glance", apitest.TooShort, "",
		},
		{
			"no Secret", func(b *GlanceBackend) { b.Spec.S3.CredentialsSecretRef.Name = "" },
			"spec.s3.credentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
	}
}

func glanceBackends() apitest.Kind[*GlanceBackend] {
	return apitest.Kind[*GlanceBackend]{
		Definition: configDir + "/crd/bases/glance.openstack.c5c3.io_glancebackends.yaml",
		Columns:    []string{"Glance", "Type", "Ready", "Age"},
		Minimal:    minimalBackend,
		Complete: []func() *GlanceBackend{
			func() *GlanceBackend {
				b := minimalBackend()
				b.Spec.S3.TLS, b.Spec.S3.Region = new(false), "eu-1"
				return b
			},
			ofType(BackendFile), ofType(BackendSwift), ofType(BackendRBD),
		},
		Rules:       backendTable,
		Immutables:  backendImmutables,
		UpdateRules: ValidateBackendUpdate,
		Updates: []apitest.Violation[*GlanceBackend]{
			{
				Name: "another bucket", Change: func(b *GlanceBackend) { b.Spec.S3.Bucket = "others" },
				Path: "spec.type", Message: "the type, the bucket and the claim cannot be changed",
			},
			{
				Name: "another Glance", Change: func(b *GlanceBackend) { b.Spec.GlanceRef.Name = "others" },
				Path: "spec.glanceRef", Message: "the Glance cannot be changed",
			},
		},
		Violations: apitest.Violations(backendViolations()),
		Accepted: map[string]func(*GlanceBackend){
			"a volume": func(b *GlanceBackend) {
				b.Spec.Type, b.Spec.S3, b.Spec.File = BackendFile, nil, &FileSpec{Claim: "images"}
			},
			"a region": func(b *GlanceBackend) {
				if b.Spec.S3 != nil {
					b.Spec.S3.Region = "eu-1"
				}
			},
		},
		Words: []string{"images"},
	}
}

func kinds() apitest.Kinds { return apitest.Kinds{glances(), glanceBackends()} }

func TestTheGlanceAPIPassesAllAPIChecks(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().Prove(t, "validation*.go", " must be valid UTF-8")
}

func TestAnImageWithoutANameIsRefusedWithTheNameOfGlances(t *testing.T) {
	p := minimal()
	p.Spec.Image.Repository = ""
	if err := Validate(p).ToAggregate(); err == nil || !strings.Contains(err.Error(), "for example ghcr.io/c5c3/glance") {
		t.Errorf("got %v", err)
	}
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}
