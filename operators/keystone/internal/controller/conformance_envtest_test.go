//go:build integration

package controller_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/running"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	scope "github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// keystones describes Keystone to the conformance suite.
func keystones() conformance.Service[*keystonev1alpha1.Keystone] {
	return conformance.Service[*keystonev1alpha1.Keystone]{
		Program:    testutil.Program(),
		Definition: &scope.Definition,
		Vocabulary: keystonev1alpha1.Vocabularies()[0],
		New:        testutil.Brownfield,
		Inputs:     testutil.Secrets,
		Endpoint:   func(namespace string) string { return "http://keystone." + namespace + ".svc.cluster.local:5000/v3" },
		Probe:      func(api *running.API) probe.Doer { return testutil.NewAPI(api) },
		Children: []string{
			"ConfigMap keystone-credential-rotate-script-HASH", "ConfigMap keystone-fernet-rotate-script-HASH",
			"CronJob keystone-credential-rotate", "CronJob keystone-fernet-rotate", "CronJob keystone-trust-flush",
			"Job keystone-bootstrap",
			"PushSecret keystone-credential-keys-backup", "PushSecret keystone-fernet-keys-backup",
			"Role keystone-credential-rotate", "Role keystone-fernet-rotate",
			"RoleBinding keystone-credential-rotate", "RoleBinding keystone-fernet-rotate",
			"Secret keystone-credential-keys", "Secret keystone-credential-keys-rotation",
			"Secret keystone-fernet-keys", "Secret keystone-fernet-keys-rotation",
			"ServiceAccount keystone-credential-rotate", "ServiceAccount keystone-fernet-rotate",
		},
		Irreplaceable: []string{"keystone-credential-keys", "keystone-fernet-keys"},
		Drifts: []conformance.Drift{
			conformance.DriftOf(&batchv1.CronJob{}, "keystone-fernet-rotate", "schedule",
				func(c *batchv1.CronJob) *string { return &c.Spec.Schedule }, "@yearly"),
			conformance.DriftOf(&batchv1.CronJob{}, "keystone-fernet-rotate", "command",
				func(c *batchv1.CronJob) *[]string {
					return &c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command
				}, []string{"true"}),
			conformance.DriftOf(&batchv1.CronJob{}, "keystone-trust-flush", "deadline",
				func(c *batchv1.CronJob) **int64 { return &c.Spec.JobTemplate.Spec.ActiveDeadlineSeconds }, new(int64(7))),
			conformance.DriftOf(&rbacv1.Role{}, "keystone-fernet-rotate", "rules",
				func(r *rbacv1.Role) *[]rbacv1.PolicyRule { return &r.Rules },
				[]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}}),
		},
		Watches: []string{
			"serviceaccounts.", "cronjobs.batch", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
			"pushsecrets.external-secrets.io", "keystoneidentitybackends.keystone.openstack.c5c3.io",
		},
		Events: []string{"FernetKeysGenerated", "CredentialKeysGenerated", "BootstrapComplete"},
		// Two Jobs in sequence, then the API pods and bootstrap in parallel, then the
		// answers of the API and to a login, and in parallel the copies of the keys. How
		// many of the last five share a write depends on timing.
		StatusWrites:   8,
		SLURP:          keystonev1alpha1.SLURP,
		DeletionWrites: map[string]int{"delete pushsecrets.external-secrets.io": 2, patchKeystone: 2, updateStatus: 1},
	}
}

func TestAKeystoneConforms(t *testing.T) {
	conformance.Run(t, keystones(), &conformance.World{
		Env: env, Admin: admin, AsOperator: asOperator, Deployments: deployments, Jobs: jobs, MariaDB: mariadb, Secrets: secrets,
	})
}
