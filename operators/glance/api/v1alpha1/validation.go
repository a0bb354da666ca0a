package v1alpha1

import (
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of services and those of a Glance alone. It repeats what the
// schema states as markers and CEL, in the same words, and adds what a schema cannot
// state. Rules that need other objects are in the webhook instead.
var table = slices.Concat(
	commonv1.ServiceRules[*Glance](AppName, SelectorLabels), commonv1.DataRules[*Glance](AppName),
	commonv1.OptionsRules[*Glance](), commonv1.NameRules[*Glance](), commonv1.ExtraConfigRules[*Glance](nil),
	commonv1.ServiceUserRules[*Glance](), commonv1.CleanUpRules[*Glance](),
	rules.Table[*Glance]{
		{Path: "spec.stagingSize", Check: checkStaging},
		{Path: "spec.webDownload.allowedHosts", Check: checkAllowedHosts},
	},
)

// Limits are the rules that refuse new values only.
var Limits = slices.Concat(commonv1.ServiceLimits[*Glance](), commonv1.ServiceUserLimits[*Glance]())

// Outdated describes the values of a Glance that a new one could not have, "" if there
// are none.
func Outdated(p *Glance) string { return Limits.Outdated(p) }

// immutables are the fields of a Glance that cannot be changed.
var immutables = commonv1.DataImmutables[*Glance]()

// Validate returns everything that is wrong with a Glance on its own, that is,
// without looking at other objects. It expects an object that SetDefaults has been
// applied to.
func Validate(p *Glance) field.ErrorList { return table.Validate(p) }

// ValidateUpdate returns what is wrong with replacing one Glance with another, in
// addition to what Validate returns for the new one. Both objects must have their
// defaults.
func ValidateUpdate(old, updated *Glance) field.ErrorList {
	return rules.Unchanged(immutables, old, updated)
}

func checkStaging(p *Glance, at *field.Path) field.ErrorList {
	if limit := p.Spec.StagingSize; limit != nil && limit.Sign() <= 0 {
		return field.ErrorList{field.Invalid(at, limit.String(), "stagingSize must be more than 0")}
	}
	return nil
}

// metadataHosts are names under which clouds offer their metadata services.
var metadataHosts = []string{"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}

// isInternal reports whether the name is one of the cluster, or of a metadata service.
func isInternal(host string) bool {
	return !strings.Contains(host, ".") || slices.Contains(metadataHosts, host) ||
		strings.Contains(host+".", ".svc.") || strings.HasSuffix(host, ".local")
}

func checkAllowedHosts(p *Glance, at *field.Path) (errs field.ErrorList) {
	if p.Spec.WebDownload == nil {
		return nil
	}
	if len(p.Spec.WebDownload.AllowedHosts) == 0 {
		return field.ErrorList{field.Required(at, "name the hosts, or remove spec.webDownload")}
	}
	for i, host := range p.Spec.WebDownload.AllowedHosts {
		switch {
		case net.ParseIP(strings.Trim(host, "[]")) != nil:
			errs = append(errs, field.Invalid(at.Index(i), host, "an address is not allowed: name the host"))
		case len(validation.IsDNS1123Subdomain(host)) > 0:
			errs = append(errs, field.Invalid(at.Index(i), host, "it must be the name of a host in lower case, without a scheme and a port"))
		case isInternal(host):
			errs = append(errs, field.Invalid(at.Index(i), host, "names of the cluster and of metadata services are not allowed"))
		}
	}
	return errs
}
