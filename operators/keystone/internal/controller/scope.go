package controller

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// toolbox is what the steps of every pass work with beside the tools of every
// service.
type toolbox struct {
	proofs    *proof.Prover
	dbSyncs   *dbSyncMetrics
	lifetimes *lifetimes
	// secretStoreTimeout bounds the waits for External Secrets during deletion.
	secretStoreTimeout time.Duration
	// propagation is how long it takes at most until a changed Secret is in all pods.
	propagation time.Duration
}

// scope is one pass over one Keystone. The fields below the resource are what
// one step finds out and a later one, which declares that it needs it, uses.
type scope struct {
	*service.Pass
	*toolbox
	keystone *keystonev1alpha1.Keystone

	// credentials is set by Secrets.
	credentials credentials
	// logins and connection are set by DBConnectionSecret.
	logins     loginPlan
	connection connection
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
	// bootstrapJob is set with bootstrapped: the Job that gave it the password.
	bootstrapJob *batchv1.Job
	// serving and rollout are set by HealthCheck: whether an API pod is ready, and
	// what changes with the API pods.
	serving bool
	rollout string
	// secretValues is set by Config: what is secret in options.
	secretValues []string
}

// credentials are the values of the Secrets the spec refers to.
type credentials struct {
	// databaseSecret identifies the Secret with the database's user and password.
	databaseSecret   types.UID
	databaseUser     string
	databasePassword redact.Bytes
	adminPassword    redact.Bytes
}

func newScope(tools *service.Tools, own *toolbox, k *keystonev1alpha1.Keystone) *scope {
	return &scope{Pass: service.NewPass(tools, &definition, k), toolbox: own, keystone: k}
}

// runner runs Jobs and quotes none of the secrets of this pass.
func (s *scope) runner() *job.Runner {
	runner := *s.Jobs
	runner.Hidden = s.hidden()
	return &runner
}

// hidden are the values of Secrets that a tool could print while it fails.
func (s *scope) hidden() []string {
	values := []string{
		string(s.credentials.databasePassword), string(s.credentials.adminPassword), s.connection.used, s.connection.next,
	}
	for _, password := range s.logins.known {
		values = append(values, string(password))
	}
	return append(values, s.secretValues...)
}
