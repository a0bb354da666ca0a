package controller

import (
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// toolbox is what the steps of every pass work with.
type toolbox struct {
	client client.Client
	// foreign is client for the kinds of other operators.
	foreign client.Client
	scheme  *runtime.Scheme
	refs    *refs.Reader
	owned   secrets.Owned
	kinds   servedKinds
	// background does what asks Keystone itself.
	background *probe.Background
	proofs     *proofs
	// revokeCredential, enrol, deleteUser and setRegion ask Keystone itself.
	revokeCredential Revoke
	enrol            Enrol
	deleteUser       Revoke
	setRegion        SetRegion
	revocations      revocations
	cluster          cluster.Settings
	// clock is nil for time.Now.
	clock func() time.Time
	// ahead is nil where no namespace has a clock of its own.
	ahead func(namespace string) time.Duration

	stallTimeout, retryPeriod, spreadTime time.Duration
	// services are those that a control plane can have.
	services serviceList
	// serviceClients are the namespaces that have to reach every service that says
	// who does.
	serviceClients []string
}

// servedKinds knows which of the kinds of other operators the cluster serves.
type servedKinds interface {
	Served(schema.GroupVersionKind) bool
}

// now is the time in a namespace.
func (t *toolbox) now(namespace string) time.Time {
	now := time.Now()
	if t.clock != nil {
		now = t.clock()
	}
	if t.ahead != nil {
		now = now.Add(t.ahead(namespace))
	}
	return now
}

// forget drops what is kept in memory about a control plane.
func (t *toolbox) forget(cp types.NamespacedName) {
	t.background.Forget(cp)
	t.proofs.forget(cp)
	t.revocations.forget(cp)
}

// scope is one pass over one ControlPlane. The fields below the resource are what
// one step finds out and a later one, which declares that it needs it, uses.
type scope struct {
	*toolbox
	cp *c5c3v1alpha1.ControlPlane

	// update is set by the steps of the services.
	update update
	// again is how soon the steps of K-ORC want to look again, zero for no wish.
	again time.Duration
	// adminPassword, credential, push, delivery and applicationCredential are set
	// by KORC: the administrator's password, the Secret of the application
	// credential, the two objects that carry it, and its object.
	adminPassword         string
	credential            *corev1.Secret
	push                  *esov1alpha1.PushSecret
	delivery              *esov1.ExternalSecret
	applicationCredential *orcv1alpha1.ApplicationCredential
	// imports are set by KORC.
	imports []orcObject
	// hasPasswordCloud is set by KORC when the Secret with the administrator's
	// password for K-ORC is the control plane's own and up to date.
	hasPasswordCloud bool
}

func (s *scope) now() time.Time { return s.toolbox.now(s.cp.Namespace) }

func (s *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(s.cp) }

func (s *scope) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.cp.Namespace, Name: name}
}
