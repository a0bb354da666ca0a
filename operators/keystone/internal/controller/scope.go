package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/optional"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/rotation"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// toolbox is what the steps of every pass work with.
type toolbox struct {
	client client.Client
	// foreign is client for the kinds of other projects.
	foreign client.Client
	live    client.Reader
	scheme  *runtime.Scheme
	refs    *refs.Reader
	owned   secrets.Owned
	kinds   *optional.Kinds
	prober  *probe.Prober
	jobs    *job.Runner
	dbSyncs *dbSyncMetrics
	ages    *rotation.Ages
	// clock is nil for time.Now.
	clock func() time.Time
	// secretStoreTimeout bounds the waits for External Secrets during deletion.
	secretStoreTimeout time.Duration
	// operatorNamespace is where the health checks come from, "" when unknown.
	operatorNamespace string
}

// scope is one pass over one Keystone. The fields below the resource are what
// one step finds out and a later one, which declares that it needs it, uses.
type scope struct {
	*toolbox
	keystone *keystonev1alpha1.Keystone

	// credentials is set by Secrets.
	credentials credentials
	// logins and connection are set by DBConnectionSecret.
	logins     loginPlan
	connection connection
	// connectionHash is set by DBConnectionSecret and changes when any part of
	// the database connection that pods are given does.
	connectionHash string
	// credentialKeys is set by Installation: the Secret with the credential keys,
	// nil when there is none.
	credentialKeys *corev1.Secret
	// installed is set by Installation when it is known what the database holds.
	installed bool
	// unreadable is set by Installation when the database holds credentials that
	// the credential keys cannot read.
	unreadable error
	// bootstrapped is set by Bootstrap once Keystone has the administrator's
	// password of this pass.
	bootstrapped bool
	// configMap is set by Config: the name of the current configuration.
	configMap string
	// options is set by Config: the merged keystone.conf.
	options map[string]map[string]string
}

// credentials are the values of the Secrets the spec refers to.
type credentials struct {
	databaseUser     string
	databasePassword keys.Secret
	adminPassword    keys.Secret
}

func (s *scope) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.keystone.Namespace, Name: name}
}

func (t *toolbox) now() time.Time {
	if t.clock == nil {
		return time.Now()
	}
	return t.clock()
}
