package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func standardResources() *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
	}
}

func TestAMinimalKeystoneGetsEveryDefault(t *testing.T) {
	want := minimal().Spec
	want.Replicas = 3
	want.Cache.Backend, want.Cache.Replicas = "dogpile.cache.pymemcache", 3
	want.Fernet = FernetSpec{RotationSchedule: "0 0 * * 0", MaxActiveKeys: 3}
	want.CredentialKeys = CredentialKeysSpec{RotationSchedule: "0 0 * * 0", MaxActiveKeys: 3}
	want.TrustFlush = &TrustFlushSpec{Schedule: "0 * * * *"}
	want.Bootstrap.AdminUser, want.Bootstrap.Region = "admin", "RegionOne"
	want.Logging = &commonv1.LoggingSpec{Format: commonv1.LogFormatText, Level: commonv1.LogLevelInfo}
	want.Resources = standardResources()
	if diff := cmp.Diff(want, defaulted(minimal()).Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOptionalStructsAreDefaultedOnlyIfSet(t *testing.T) {
	k := minimal()
	k.Spec.UWSGI = &commonv1.UWSGISpec{Processes: 4}
	k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true}
	k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{}
	k.Spec.Logging = &commonv1.LoggingSpec{Debug: true}
	got := defaulted(k).Spec
	for _, c := range []struct{ want, got any }{
		{&commonv1.UWSGISpec{Processes: 4, Threads: 1, HTTPKeepAlive: new(true)}, got.UWSGI},
		{&PasswordRotationSpec{Enabled: true, Schedule: "0 0 1 * *", PasswordLength: 32}, got.Bootstrap.PasswordRotation},
		{&commonv1.DatabaseTLSSpec{Mode: commonv1.DatabaseTLSRequire}, got.Database.TLS},
		{&commonv1.LoggingSpec{Format: commonv1.LogFormatText, Level: commonv1.LogLevelInfo, Debug: true}, got.Logging},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if absent := defaulted(minimal()).Spec; absent.UWSGI != nil || absent.Bootstrap.PasswordRotation != nil || absent.Database.TLS != nil {
		t.Error("a default brought up something the user did not ask for")
	}
}

func TestDefaultsNeverReplaceWhatTheUserWrote(t *testing.T) {
	k := minimal()
	k.Spec.Replicas = 5
	k.Spec.Cache.Backend, k.Spec.Cache.Replicas = "oslo_cache.memcache_pool", 1
	k.Spec.Fernet = FernetSpec{RotationSchedule: "@daily", MaxActiveKeys: 7, Suspend: true}
	k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: "@monthly", MaxActiveKeys: 4, Suspend: true}
	k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "@daily", Suspend: true, Args: []string{"--date", "01-01-2026"}}
	k.Spec.Bootstrap.AdminUser, k.Spec.Bootstrap.Region = "root", "EU-West"
	k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Schedule: "@weekly", PasswordLength: 64}
	k.Spec.Logging = &commonv1.LoggingSpec{Format: commonv1.LogFormatJSON, Level: commonv1.LogLevelError}
	k.Spec.UWSGI = &commonv1.UWSGISpec{Processes: 8, Threads: 2, HTTPKeepAlive: new(false)}
	k.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	k.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{}
	if diff := cmp.Diff(k.Spec, defaulted(k).Spec); diff != "" {
		t.Errorf("-written +defaulted:\n%s", diff)
	}
}

func TestEmptyResourcesCountAsUnset(t *testing.T) {
	k := minimal()
	k.Spec.Resources = &corev1.ResourceRequirements{}
	if diff := cmp.Diff(standardResources(), defaulted(k).Spec.Resources); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
