// Package doctor decides whether a cluster has what the operators need. It makes
// no request.
package doctor

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Facts are what has been read from a cluster. What could not be read has an entry
// in Hidden.
type Facts struct {
	// Namespace is the one that a ControlPlane or a service is to be in.
	Namespace string
	// Version is that of the API server, as in v1.37.1.
	Version string
	// Served are the kinds that the cluster serves, with their versions.
	Served map[schema.GroupKind][]string
	// Operators are the Deployments of the operators.
	Operators []appsv1.Deployment
	// Webhooks are the names of the operators, as in [OperatorApps], whose webhooks are
	// registered.
	Webhooks []string
	// Store is the secret store, nil when there is none.
	Store *unstructured.Unstructured
	// NamespaceLabels are those of the namespace.
	NamespaceLabels map[string]string
	// DNS are the EndpointSlices of the cluster's DNS.
	DNS []discoveryv1.EndpointSlice
	// StorageClasses are those of the cluster.
	StorageClasses []storagev1.StorageClass
	// Quotas are those of the namespace.
	Quotas []corev1.ResourceQuota
	// Rights are those that the commands need in the namespace.
	Rights map[kube.Right]bool

	// Hidden says why something could not be read.
	Hidden map[Topic]error
}

// Topic is the subject of a check.
type Topic string

// The topics, as they are called in the findings.
const (
	TopicVersion        Topic = "Kubernetes"
	TopicKinds          Topic = "Kinds"
	TopicOperators      Topic = "Operators"
	TopicStore          Topic = "ClusterSecretStore " + secrets.StoreName
	TopicDNS            Topic = "DNS"
	TopicStorageClasses Topic = "StorageClass"
	TopicQuotas         Topic = "ResourceQuota"
)
