package v1alpha1

import (
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

func ofGlance(change func(*ServiceSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Glance != nil {
			change(&cp.Spec.Services.Glance.ServiceSpec)
		}
	}
}

func ofGlanceDatabase(change func(*GlanceDatabaseSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if cp.Spec.Services.Glance != nil {
			change(&cp.Spec.Services.Glance.Database)
		}
	}
}

// ofBackend changes a backend in a bucket, the first one.
func ofBackend(change func(*ServiceGlanceBackendSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if glance := cp.Spec.Services.Glance; glance != nil && len(glance.Backends) > 0 && glance.Backends[0].S3 != nil {
			change(&glance.Backends[0])
		}
	}
}

// withBackend adds a backend.
func withBackend(backend ServiceGlanceBackendSpec, change func(*ServiceGlanceBackendSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if glance := cp.Spec.Services.Glance; glance != nil {
			change(&backend)
			glance.Backends = append([]ServiceGlanceBackendSpec{backend}, glance.Backends...)
		}
	}
}

func glanceViolations() []violation {
	const needsKeystone = "glance needs the Identity service"
	return []violation{
		{
			"a Glance without Keystone", without(func(from, to *ServicesSpec) { to.Glance = from.Glance }),
			glancePath, needsKeystone, needsKeystone, "",
		},
		{
			"Glance's database with a dash", ofGlanceDatabase(func(d *GlanceDatabaseSpec) { d.Database = "gla-nce" }),
			glancePath + ".database.database", "must be 1 to 64 letters", apitest.NoMatch, "",
		},
		{
			"the database of Keystone for Glance", ofGlanceDatabase(func(d *GlanceDatabaseSpec) { d.Database = "keystone" }),
			glancePath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"the database of Barbican for Glance", func(cp *ControlPlane) {
				if cp.Spec.Services.Glance != nil && cp.Spec.Services.Barbican != nil {
					cp.Spec.Services.Glance.Database.Database = cp.Spec.Services.Barbican.Database.Database
				}
			},
			glancePath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"the database of Placement for Glance", func(cp *ControlPlane) {
				if cp.Spec.Services.Glance != nil && cp.Spec.Services.Placement != nil {
					cp.Spec.Services.Glance.Database.Database = cp.Spec.Services.Placement.Database.Database
				}
			},
			glancePath + ".database.database", ofAnother, ofAnother, "",
		},
		{
			"Glance's credentials in a Secret that cannot exist",
			ofGlanceDatabase(func(d *GlanceDatabaseSpec) { d.SecretRef.Name = "Glance_DB" }),
			glancePath + ".database.secretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"Glance's password under an impossible key", ofGlanceDatabase(func(d *GlanceDatabaseSpec) { d.SecretRef.Key = "pass word" }),
			glancePath + ".database.secretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
	}
}

func backendViolations() []violation {
	const name, fields, first = "name must be that of a store", "the type needs its own field and no other", glancePath + ".backends[0]"
	return []violation{
		{
			"a backend twice", withBackend(inVolume("images"), func(*ServiceGlanceBackendSpec) {}),
			glancePath + ".backends[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"a name that no store has", ofBackend(func(b *ServiceGlanceBackendSpec) { b.Name = "1.images" }),
			first + ".name", name, name, "",
		},
		{
			"a backend with the name of a section", ofBackend(func(b *ServiceGlanceBackendSpec) { b.Name = "database" }),
			first + ".name", name, name, "",
		},
		{
			"a bucket and a volume", ofBackend(func(b *ServiceGlanceBackendSpec) { b.File = &glancev1alpha1.FileSpec{Claim: "a"} }),
			first + ".type", fields, fields, "",
		},
		{
			"a URL in place of a host", ofBackend(func(b *ServiceGlanceBackendSpec) { b.S3.Host = "https://s3.example.com" }),
			first + ".s3.host", "it must be a host without a scheme", apitest.NoMatch, "",
		},
		{
			"no bucket", ofBackend(func(b *ServiceGlanceBackendSpec) { b.S3.Bucket = "A" }),
			first + ".s3.bucket", "it must be the name of a bucket", apitest.NoMatch, "",
		},
		{
			"no Secret with the credentials of a bucket", ofBackend(func(b *ServiceGlanceBackendSpec) { b.S3.CredentialsSecretRef.Name = "" }),
			first + ".s3.credentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
		{
			"no claim", withBackend(inVolume("other"), func(b *ServiceGlanceBackendSpec) { b.File.Claim = "" }),
			first + ".file.claim", "name the claim", apitest.TooShort, "",
		},
		{
			"no Secret with the options of a pool", withBackend(inPool("other"), func(b *ServiceGlanceBackendSpec) { b.OptionsSecretRef.Name = "" }),
			first + ".optionsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
	}
}
