package types

import (
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// The highest values of numbers that become pods, addresses or waits.
const (
	// MaxReplicas is the highest number of API pods of a service.
	MaxReplicas int32 = 1000
	// MaxCacheReplicas is the highest number of memcached servers. The address of each is in
	// the configuration of every service.
	MaxCacheReplicas int32 = 100
	// MaxSeconds is the longest time that anything waits for a connection or a pod: one day.
	MaxSeconds = 24 * 60 * 60
)

// gatewayPath has what the path of an HTTPRoute may have, according to the Gateway API.
var gatewayPath = regexp.MustCompile(`^[-A-Za-z0-9/._~!$&'()*+,;=:@%]*$`)

// ServiceLimits returns the rules of every API service that refuse new values only.
func ServiceLimits[T Describer]() rules.Limits[T] {
	return rules.Limits[T]{
		rules.AtMost("spec.replicas", MaxReplicas, func(r T) *int32 { return &r.ServiceSpec().Replicas }),
		rules.AtMost("spec.autoscaling.maxReplicas", MaxReplicas, func(r T) *int32 {
			if scaling := r.ServiceSpec().Autoscaling; scaling != nil {
				return &scaling.MaxReplicas
			}
			return nil
		}),
		rules.AtMost("spec.cache.replicas", MaxCacheReplicas, func(r T) *int32 { return &r.ServiceSpec().Cache.Replicas }),
		rules.AtMost("spec.terminationGracePeriodSeconds", int64(MaxSeconds), func(r T) *int64 {
			return r.ServiceSpec().TerminationGracePeriodSeconds
		}),
		rules.AtMost("spec.uwsgi.httpKeepAliveTimeout", int32(MaxSeconds), func(r T) *int32 {
			if uwsgi := r.ServiceSpec().UWSGI; uwsgi != nil {
				return uwsgi.HTTPKeepAliveTimeout
			}
			return nil
		}),
		GatewayPathLimit("spec.gateway.path", func(r T) *GatewaySpec { return r.ServiceSpec().Gateway }),
	}
}

// ServiceUserLimits returns the rules of every API service with a service user that refuse
// new values only.
func ServiceUserLimits[T ServiceUserDescriber]() rules.Limits[T] {
	return rules.Limits[T]{
		rules.Text("spec.identity.authURL", func(r T) string { return r.ServiceUser().Identity.AuthURL }, ValidateURLText),
	}
}

// GatewayPathLimit refuses a path that no HTTPRoute can have.
func GatewayPathLimit[T any](path string, get func(T) *GatewaySpec) rules.Limit[T] {
	return rules.Text(path, func(resource T) string {
		if gateway := get(resource); gateway != nil {
			return gateway.Path
		}
		return ""
	}, func(text string, at *field.Path) field.ErrorList {
		if gatewayPath.MatchString(text) {
			return nil
		}
		return field.ErrorList{field.Invalid(at, text, "must be the path of a URL, without spaces, '?' and '#'")}
	})
}

// ValidateURLText refuses a URL that clients read in different ways. Go accepts spaces in a
// path, and Unicode has more of them than those that end a URL in a shell.
func ValidateURLText(text string, at *field.Path) field.ErrorList {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, text, "must not contain spaces or control characters: write %20 for a space in a path")}
}
