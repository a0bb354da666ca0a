package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceSpec returns the part of the spec that a Keystone has in common with other services. Callers must not change it.
func (k *Keystone) ServiceSpec() *commonv1.ServiceSpec {
	s := &k.Spec
	return &commonv1.ServiceSpec{
		Replicas:                      s.Replicas,
		Image:                         s.Image,
		ImagePullSecrets:              s.ImagePullSecrets,
		Database:                      s.Database,
		Cache:                         s.Cache,
		DeletionPolicy:                s.DeletionPolicy,
		PolicyOverrides:               s.PolicyOverrides,
		Autoscaling:                   s.Autoscaling,
		NetworkPolicy:                 s.NetworkPolicy,
		Gateway:                       s.Gateway,
		Resources:                     s.Resources,
		UWSGI:                         s.UWSGI,
		Logging:                       s.Logging,
		TopologySpreadConstraints:     s.TopologySpreadConstraints,
		PriorityClassName:             s.PriorityClassName,
		TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds,
		PreStopSleepSeconds:           s.PreStopSleepSeconds,
		Strategy:                      s.Strategy,
		ExtraConfig:                   s.ExtraConfig,
		ExtraConfigSecretRef:          s.ExtraConfigSecretRef,
	}
}

// ServiceStatus returns the status of a Keystone.
func (k *Keystone) ServiceStatus() *commonv1.ServiceStatus { return &k.Status.ServiceStatus }
