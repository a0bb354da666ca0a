// Package doctor decides whether a cluster has what the operators need.
package doctor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// oldestKubernetes is the version from which the charts install (their
// kubeVersion).
const oldestKubernetes = "1.30.0"

const labelName = "app.kubernetes.io/name"

// The names of the findings.
const (
	topicVersion = "Kubernetes"
	topicStore   = "ClusterSecretStore " + secrets.StoreName
	topicDNS     = "DNS"
	topicClass   = "StorageClass"
	topicQuota   = "ResourceQuota"
)

// examination is of a cluster and of the namespace that a ControlPlane or a service is to be in.
type examination struct {
	*kube.Session
	findings []check.Finding
	// served are the kinds that the cluster serves, with their versions, nil if the user may not see them.
	served map[schema.GroupKind][]string
}

// Examine returns the findings about the cluster and the session's namespace. What the user may not read is Unknown.
func Examine(ctx context.Context, s *kube.Session) ([]check.Finding, error) {
	e := &examination{Session: s}
	for _, topic := range []struct {
		name string
		look func(context.Context) error
	}{
		{topicVersion, e.checkVersion},
		{"Kinds", e.checkKinds},
		{"Operators", e.checkOperators},
		{topicStore, e.checkStore},
		{topicDNS, e.checkDNS},
		{topicClass, e.checkStorage},
		{topicQuota, e.checkQuotas},
		{"Permissions", e.checkRights},
	} {
		err := kube.Explain(topic.look(ctx))
		switch {
		case kube.IsMissingRight(err):
			e.add(topic.name, check.Unknown, "%s", err)
		case err != nil:
			return nil, err
		}
	}
	return e.findings, nil
}

func (e *examination) add(name string, result check.Result, format string, args ...any) {
	e.findings = append(e.findings, check.Finding{Name: name, Result: result, Text: fmt.Sprintf(format, args...)})
}

func (e *examination) checkVersion(context.Context) error {
	server, err := e.Discovery.ServerVersion()
	if err != nil {
		return err
	}
	parsed, err := version.ParseGeneric(server.GitVersion)
	switch {
	case err != nil:
		e.add(topicVersion, check.Unknown, "%q cannot be parsed: %s", server.GitVersion, err)
	case parsed.LessThan(version.MustParseGeneric(oldestKubernetes)):
		e.add(topicVersion, check.Failed, "%s is older than %s: upgrade the cluster", server.GitVersion, oldestKubernetes)
	default:
		e.add(topicVersion, check.OK, "%s", server.GitVersion)
	}
	return nil
}
