package apitest

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// userViolation is a [Violation] of the fields that the kinds of services with a service
// user share.
type userViolation struct {
	Name                  string
	Change                func(commonv1.ServiceUser)
	Path, Message, Schema string
}

var userViolations = []userViolation{
	{
		"no Identity service", func(u commonv1.ServiceUser) { u.Identity.AuthURL = "" },
		"spec.identity.authURL", "set the URL of the Identity API", NoMatch,
	},
	{
		"an Identity service of another protocol", func(u commonv1.ServiceUser) { u.Identity.AuthURL = "ftp://keystone" },
		"spec.identity.authURL", "must be a URL that begins with http", NoMatch,
	},
	{
		"an Identity service with a password", func(u commonv1.ServiceUser) { u.Identity.AuthURL = "http://a:b@keystone" },
		"spec.identity.authURL", "without a user", "",
	},
	{
		"an Identity service with a wide space", func(u commonv1.ServiceUser) { u.Identity.AuthURL = "http://keystone/v\u00a03" },
		"spec.identity.authURL", "must not contain spaces or control characters", "",
	},
	{
		"a region that refers to an option", func(u commonv1.ServiceUser) { u.Identity.Region = "$region" },
		"spec.identity.region", "must not contain spaces or dollar signs", NoMatch,
	},
	{
		"a project in two words", func(u commonv1.ServiceUser) { u.Identity.Project = "the service" },
		"spec.identity.project", "must not contain spaces or dollar signs", NoMatch,
	},
	{
		"a project's domain in two words", func(u commonv1.ServiceUser) { u.Identity.ProjectDomain = "the default" },
		"spec.identity.projectDomain", "must not contain spaces or dollar signs", NoMatch,
	},
	{
		"a user's domain in two words", func(u commonv1.ServiceUser) { u.Identity.UserDomain = "the default" },
		"spec.identity.userDomain", "must not contain spaces or dollar signs", NoMatch,
	},
	{
		"no service user", func(u commonv1.ServiceUser) { u.SecretRef.Name = "" },
		"spec.serviceUserSecretRef.name", "Required value", TooShort,
	},
}

// userDefaults are the defaults of the fields.
var userDefaults = []Default{
	{Path: "spec.identity.project", Want: "service"},
	{Path: "spec.identity.projectDomain", Want: "Default"},
	{Path: "spec.identity.userDomain", Want: "Default"},
}

// changingUser applies a change to the fields of the service user.
func changingUser[T any](change func(commonv1.ServiceUser)) func(T) {
	return func(object T) {
		user, _ := commonv1.ServiceUserOf(object)
		change(user)
	}
}

// completeUser sets every field of the service user, if the service has one.
func completeUser[T any](object T) {
	user, has := commonv1.ServiceUserOf(object)
	if !has {
		return
	}
	*user.Identity = commonv1.IdentitySpec{
		AuthURL: "https://identity.example.com/v3", Region: "RegionOne", Project: "services", ProjectDomain: "Default", UserDomain: "Default",
	}
	user.SecretRef.Key = "password"
}

// withUser adds everything about the service user to the description of a kind, if the
// service has one.
func withUser[T client.Object](kind Kind[T]) Kind[T] {
	if _, has := commonv1.ServiceUserOf(kind.Minimal()); !has {
		return kind
	}
	violations := make([]Violation[T], 0, len(userViolations))
	for _, row := range userViolations {
		violations = append(violations, Violation[T]{
			Name: row.Name, Change: changingUser[T](row.Change), Path: row.Path, Message: row.Message, Schema: row.Schema,
		})
	}
	kind.Violations = slices.Concat(violations, kind.Violations)
	kind.DefaultRows = slices.Concat(userDefaults, kind.DefaultRows)
	kind.Accepted["an address of the Identity service with a path"] = changingUser[T](func(u commonv1.ServiceUser) {
		u.Identity.AuthURL = "https://[fd00::1]:5000/identity/v3"
	})
	kind.Mutable["another service user"] = changingUser[T](func(u commonv1.ServiceUser) { u.SecretRef.Name = "another-user" })
	return kind
}
