package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// immutables are the fields of a ControlPlane that cannot be changed. A change would
// leave behind what was created for the old value, with the data in it.
var immutables = []rules.Immutable[*ControlPlane]{
	{Path: "spec.region", Message: "region is immutable", Get: func(cp *ControlPlane) any { return cp.Spec.Region }},
	{
		Path: "spec.infrastructure.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
		Get: func(cp *ControlPlane) any { return cp.Spec.Infrastructure.Database.IsManaged() },
	},
	{
		Path: "spec.infrastructure.database.database", Message: "database name is immutable",
		Get: func(cp *ControlPlane) any { return cp.Spec.Infrastructure.Database.Database },
	},
	{Path: "spec.infrastructure.database.storageSize", Message: "database storageSize is immutable", Get: canonicalStorageSize},
	{
		Path: "spec.infrastructure.database.storageClassName", Message: "database storageClassName is immutable",
		Get: func(cp *ControlPlane) any { return cp.Spec.Infrastructure.Database.StorageClassName },
	},
	{
		Path: "spec.infrastructure.cache", Message: "cache mode (managed clusterRef vs brownfield servers) is immutable",
		Get: func(cp *ControlPlane) any { return cp.Spec.Infrastructure.Cache.IsManaged() },
	},
	{
		Path: "spec.korc.adminCredential.cloudCredentialsRef.secretName", Message: "secretName is immutable",
		Get: func(cp *ControlPlane) any { return cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName },
	},
}

// canonicalStorageSize is the same for quantities written in different ways.
func canonicalStorageSize(cp *ControlPlane) any {
	size, err := cp.Spec.Infrastructure.Database.StorageSizeOrDefault()
	if err != nil {
		return cp.Spec.Infrastructure.Database.StorageSize
	}
	return size.AsDec().String()
}

// ValidateUpdate returns what is wrong with replacing one ControlPlane with another, in
// addition to what Validate returns for the new one. Both objects must have their
// defaults.
func ValidateUpdate(old, updated *ControlPlane) field.ErrorList {
	errs := rules.Unchanged(immutables, old, updated)
	errs = append(errs, checkReplicas(old, updated)...)
	errs = append(errs, checkClusterNames(old, updated)...)
	for _, s := range furtherServices {
		errs = append(errs, s.checkDatabaseName(old, updated)...)
	}
	for _, l := range storeLists {
		errs = append(errs, l.validateUpdate(old, updated)...)
	}
	return append(errs, checkDowngrade(old, updated)...)
}

// checkReplicas keeps the number of database servers, but for an even one: there
// never were so many.
func checkReplicas(old, updated *ControlPlane) field.ErrorList {
	before, after := old.Spec.Infrastructure.Database.ReplicasOrDefault(), updated.Spec.Infrastructure.Database.ReplicasOrDefault()
	if before == after || isEven(before) {
		return nil
	}
	return field.ErrorList{field.Invalid(rules.Path("spec.infrastructure.database.replicas"), after, "database replicas is immutable")}
}

// checkClusterNames compares the names of clusters only where there are two: a
// change of the mode is an error of its own.
func checkClusterNames(old, updated *ControlPlane) field.ErrorList {
	before, after := old.Spec.Infrastructure, updated.Spec.Infrastructure
	var errs field.ErrorList
	if before.Database.IsManaged() && after.Database.IsManaged() && before.Database.ClusterRef.Name != after.Database.ClusterRef.Name {
		errs = append(errs, field.Invalid(rules.Path("spec.infrastructure.database.clusterRef.name"), after.Database.ClusterRef.Name,
			"database clusterRef.name is immutable"))
	}
	if before.Cache.IsManaged() && after.Cache.IsManaged() && before.Cache.ClusterRef.Name != after.Cache.ClusterRef.Name {
		errs = append(errs, field.Invalid(rules.Path("spec.infrastructure.cache.clusterRef.name"), after.Cache.ClusterRef.Name,
			"cache clusterRef.name is immutable"))
	}
	return errs
}

// checkDowngrade refuses an earlier release than a service has: migrations of the
// database only go forward. A release that no service has installed can be taken
// back, whether it was an update or a typo; whether an update can be rolled back
// in its current phase is up to the service.
func checkDowngrade(old, updated *ControlPlane) field.ErrorList {
	before, after := old.Spec.OpenStackRelease, updated.Spec.OpenStackRelease
	if !releasePattern.MatchString(before) || !releasePattern.MatchString(after) || after >= before {
		return nil
	}
	installed, known := installedAfter(old, after)
	if known && installed == "" {
		return nil
	}
	if !known {
		installed = before
	}
	return field.ErrorList{field.Invalid(rules.Path("spec.openStackRelease"), after,
		fmt.Sprintf("openStackRelease must not go back: database migrations only go forward, and the control plane is at %s", installed))}
}

// installedAfter is the release of a service that is later than the given one, ""
// when there is none. It is not known before the operator has reported, nor of a
// Keystone that the control plane leaves alone.
func installedAfter(cp *ControlPlane, release string) (installed string, known bool) {
	if cp.Status.UpdatePhase == "" || cp.Spec.Services.Keystone == nil {
		return "", false
	}
	if ahead := cp.ServiceAhead(release); ahead != nil {
		return ahead.Release, true
	}
	return "", true
}
