package v1alpha1

import (
	"strings"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// violation is one change to a valid Keystone that breaks one rule.
type violation apitest.Violation[*Keystone]

func violations() []violation {
	return append(append(nameViolations(), keyViolations()...), configViolations()...)
}

func nameViolations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(k *Keystone) { k.Name = "1.keystone" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for a CronJob", func(k *Keystone) { k.Name = strings.Repeat("k", 35) },
			"metadata.name", "name must be no longer than 34 characters", "name must be no longer than 34 characters", "Invalid value",
		},
		{
			"a name too long for the password rotation's CronJob", func(k *Keystone) {
				k.Name = strings.Repeat("k", 31)
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true}
			},
			"metadata.name", "name must be no longer than 30 characters with passwordRotation", "", "",
		},
	}
}

func gateway(hostname string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{Hostname: hostname, ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}}
}

func keyViolations() []violation {
	return []violation{
		{
			"a fernet schedule that is no cron expression", func(k *Keystone) { k.Spec.Fernet.RotationSchedule = "weekly" },
			"spec.fernet.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"a fernet schedule with a time zone", func(k *Keystone) { k.Spec.Fernet.RotationSchedule = "TZ=UTC 0 0 * * 0" },
			"spec.fernet.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"too few fernet keys", func(k *Keystone) {
				k.Spec.Fernet = FernetSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 2}
			},
			"spec.fernet.maxActiveKeys", "maxActiveKeys must be at least 3", apitest.TooSmall, "",
		},
		{
			"too many fernet keys", func(k *Keystone) {
				k.Spec.Fernet = FernetSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: MaxActiveKeys + 1}
			},
			"spec.fernet.maxActiveKeys", "maxActiveKeys must be at most 100", apitest.TooLarge, "",
		},
		{
			"too many credential keys", func(k *Keystone) {
				k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 2147483647}
			},
			"spec.credentialKeys.maxActiveKeys", "maxActiveKeys must be at most 100", apitest.TooLarge, "",
		},
		{
			"a credential key schedule that is no cron expression", func(k *Keystone) { k.Spec.CredentialKeys.RotationSchedule = "0 0 * *" },
			"spec.credentialKeys.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"too few credential keys", func(k *Keystone) {
				k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 1}
			},
			"spec.credentialKeys.maxActiveKeys", "maxActiveKeys must be at least 3", apitest.TooSmall, "",
		},
		{
			"a trust flush schedule that is no cron expression", func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "60 * * * *"} },
			"spec.trustFlush.schedule", "invalid cron expression", "", "",
		},
		{
			"a proxy image with a tag in its name", func(k *Keystone) {
				k.Spec.ProxyImage = &commonv1.ImageSpec{Repository: "example.com/proxy:2.4", Tag: "2.4"}
			},
			"spec.proxyImage.repository", "must be an image name without a tag", apitest.NoMatch, "",
		},
		{
			"a dashboard without a scheme", func(k *Keystone) { k.Spec.TrustedDashboards = []string{"horizon.example.com"} },
			"spec.trustedDashboards[0]", "it must be https:// or http:// with a host", apitest.NoMatch, "",
		},
		{
			"a dashboard twice", func(k *Keystone) {
				k.Spec.TrustedDashboards = []string{"https://horizon.example.com/", "https://horizon.example.com/"}
			},
			"spec.trustedDashboards[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"no administrator password", func(k *Keystone) { k.Spec.Bootstrap.AdminPasswordSecretRef.Name = "" },
			"spec.bootstrap.adminPasswordSecretRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"a public endpoint of another protocol", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "ftp://keystone.example.com" },
			"spec.bootstrap.publicEndpoint", "must be a URL", apitest.NoMatch, "",
		},
		{
			"a public endpoint with a space", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "https://keystone.example.com/v 3" },
			"spec.bootstrap.publicEndpoint", "must not contain spaces or control characters", apitest.NoMatch, "",
		},
		{
			"a public endpoint with a space that no schema knows", func(k *Keystone) {
				k.Spec.Bootstrap.PublicEndpoint = "https://keystone.example.com/v\u00a03"
			},
			"spec.bootstrap.publicEndpoint", "must not contain spaces or control characters", "", "",
		},
		{
			"a public endpoint without a host", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "https:///v3" },
			"spec.bootstrap.publicEndpoint", "must be a URL", "", "",
		},
		{
			"a public endpoint with another host than the Gateway's", func(k *Keystone) {
				k.Spec.Gateway = gateway("keystone.example.com")
				k.Spec.Bootstrap.PublicEndpoint = "https://identity.example.com/v3"
			},
			"spec.bootstrap.publicEndpoint", "publicEndpoint must be an https URL with the host of gateway.hostname",
			"publicEndpoint must be an https URL with the host of gateway.hostname", "",
		},
		{
			"a public endpoint without TLS behind a Gateway", func(k *Keystone) {
				k.Spec.Gateway = gateway("keystone.example.com")
				k.Spec.Bootstrap.PublicEndpoint = "http://keystone.example.com/v3"
			},
			"spec.bootstrap.publicEndpoint", "publicEndpoint must be an https URL with the host of gateway.hostname",
			"publicEndpoint must be an https URL with the host of gateway.hostname", "",
		},
		{
			"a password schedule that is no cron expression", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, Schedule: "monthly"}
			},
			"spec.bootstrap.passwordRotation.schedule", "invalid cron expression", "", "",
		},
		{
			"a password that is too short", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, PasswordLength: 23}
			},
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at least 24", apitest.TooSmall, "",
		},
		{
			"a password that is too long", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, PasswordLength: 1025}
			},
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at most 1024", apitest.TooLarge, "",
		},
	}
}
