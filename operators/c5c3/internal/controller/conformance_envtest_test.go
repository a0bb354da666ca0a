//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/running"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAControlPlaneConforms(t *testing.T) {
	t.Parallel()
	conformance.RunKind(t, controlPlanes(auditor), &conform)
}

// Kinds of writes that several walks have in common.
const (
	applyCredential  = "apply applicationcredentials.openstack.k-orc.cloud"
	deleteCredential = "delete applicationcredentials.openstack.k-orc.cloud"
	updateStatus     = "update controlplanes.c5c3.io/status"
)

// watched is what an operator of one namespace watches.
var watched = []string{
	"controlplanes.c5c3.io", "credentialrotations.c5c3.io", "secretaggregates.c5c3.io",
	"secrets.", "secrets., metadata", "networkpolicies.networking.k8s.io",
	"jobs.batch", "cronjobs.batch", "pods.", "backups.k8s.mariadb.com", "restores.k8s.mariadb.com",
	"mariadbs.k8s.mariadb.com", "memcacheds.memcached.c5c3.io",
	"externalsecrets.external-secrets.io", "pushsecrets.external-secrets.io",
	"applicationcredentials.openstack.k-orc.cloud", "domains.openstack.k-orc.cloud", "users.openstack.k-orc.cloud",
	"services.openstack.k-orc.cloud", "endpoints.openstack.k-orc.cloud", "projects.openstack.k-orc.cloud", "roles.openstack.k-orc.cloud",
	"keystones.keystone.openstack.c5c3.io", "keystoneidentitybackends.keystone.openstack.c5c3.io", "barbicans.barbican.openstack.c5c3.io",
	"barbicansecretstores.barbican.openstack.c5c3.io", "placements.placement.openstack.c5c3.io",
	"glances.glance.openstack.c5c3.io", "glancebackends.glance.openstack.c5c3.io", "horizons.horizon.openstack.c5c3.io",
}

// auditor adds a bootstrap resource to a control plane.
func auditor(cp *c5c3v1alpha1.ControlPlane) {
	c5c3v1alpha1.SetDefaults(cp)
	cp.Spec.KORC.AdminCredential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{{Kind: "Role", Name: "auditor"}}
}

// impatient is an operator that soon retries and drops replaced credentials. Passes are
// triggered by a change of the named object.
func impatient(trigger client.Object, name string, adjust ...func(*pass.Tools)) running.Program {
	program := testutil.Program(korc, append([]func(*pass.Tools){func(t *pass.Tools) {
		t.RetryPeriod, t.SpreadTime = 500*time.Millisecond, time.Second
	}}, adjust...)...)
	program.Trigger = func(resource client.ObjectKey) client.Object {
		trigger, _ := trigger.DeepCopyObject().(client.Object)
		trigger.SetNamespace(resource.Namespace)
		trigger.SetName(name)
		return trigger
	}
	return program
}

// controlPlanes describes ControlPlane, with changes to a minimal one.
func controlPlanes(changes ...func(*c5c3v1alpha1.ControlPlane)) conformance.Kind[*c5c3v1alpha1.ControlPlane] {
	return conformance.Kind[*c5c3v1alpha1.ControlPlane]{
		Program:    impatient(&corev1.Secret{}, "controlplane-admin-app-credential"),
		Vocabulary: c5c3v1alpha1.Vocabularies()[0],
		New: func(namespace string) *c5c3v1alpha1.ControlPlane {
			cp := minimal(namespace)
			for _, change := range changes {
				change(cp)
			}
			return cp
		},
		Inputs: func(namespace string) []client.Object {
			w := &world{cp: minimal(namespace)}
			w.seed()
			w.seedService(services.Placement)
			return nil
		},
		Settled: hasOneCredential, Observe: observed, Gone: credentialRevoked, Left: leftover,
		Reasons: map[string]string{
			"BarbicanReady": "BarbicanNotManaged", "GlanceReady": "GlanceNotManaged",
			"PlacementReady": "PlacementNotManaged", "HorizonReady": "HorizonNotManaged", "BackupReady": "BackupNotConfigured",
			"IdentityBackendsReady": "NoIdentityBackends",
		},
		Writes: map[string]int{
			"patch controlplanes.c5c3.io": 1, "apply mariadbs.k8s.mariadb.com": 1, "apply memcacheds.memcached.c5c3.io": 1,
			"apply networkpolicies.networking.k8s.io": 1, "apply keystones.keystone.openstack.c5c3.io": 1, "create secrets": 2, "update secrets": 1,
			"apply externalsecrets.external-secrets.io": 3, "apply pushsecrets.external-secrets.io": 1, "apply domains.openstack.k-orc.cloud": 1,
			"apply users.openstack.k-orc.cloud": 1, applyCredential: 1, "apply services.openstack.k-orc.cloud": 1,
			"apply endpoints.openstack.k-orc.cloud": 1, updateStatus: 1,
		},
		DeletionWrites: map[string]int{
			deleteCredential: 1, "delete endpoints.openstack.k-orc.cloud": 1, "delete services.openstack.k-orc.cloud": 1,
			"delete users.openstack.k-orc.cloud": 1, "delete domains.openstack.k-orc.cloud": 1,
			"delete pushsecrets.external-secrets.io": 1, "delete keystones.keystone.openstack.c5c3.io": 1,
			"patch controlplanes.c5c3.io": 1, updateStatus: 1,
		},
		// How many of about twelve share a write depends on timing.
		StatusWrites: 18,
		Watches:      watched,
		Drifts: []conformance.Drift{
			conformance.DriftOf(&infraapi.MariaDB{}, "openstack-db", "replicas",
				func(m *infraapi.MariaDB) **int32 { return &m.Spec.Replicas }, new(int32(5))),
			conformance.DriftOf(&infraapi.Memcached{}, "openstack-memcached", "replicas",
				func(m *infraapi.Memcached) **int32 { return &m.Spec.Replicas }, new(int32(7))),
			conformance.DriftOf(&networkingv1.NetworkPolicy{}, "openstack-memcached.clients", "ingress",
				func(p *networkingv1.NetworkPolicy) *[]networkingv1.NetworkPolicyIngressRule { return &p.Spec.Ingress }, nil),
			conformance.DriftOf(&corev1.Secret{}, "controlplane-admin-password-cloud", "data",
				func(s *corev1.Secret) *map[string][]byte { return &s.Data }, map[string][]byte{"foreign": []byte("x")}),
			conformance.DriftOf(&keystonev1alpha1.Keystone{}, "controlplane-keystone", "image",
				func(k *keystonev1alpha1.Keystone) *string { return &k.Spec.Image.Tag }, "2025.1"),
		},
		PausedWith: []client.Object{&keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Name: "controlplane-keystone"}}},

		Hibernation: &conformance.Hibernation[*c5c3v1alpha1.ControlPlane]{
			Set:     func(cp *c5c3v1alpha1.ControlPlane, on bool) { cp.Spec.Hibernation = &on },
			Stopped: stopped,
			Drift: conformance.DriftOf(&keystonev1alpha1.Keystone{}, "controlplane-keystone", "hibernation",
				func(k *keystonev1alpha1.Keystone) **bool { return &k.Spec.Hibernation }, new(false)),
			Says: []string{"MariaDB openstack-db stays up: mariadb-operator cannot stop a Galera cluster"},
		},
		Obstructions: obstructions,
		Refusals: []conformance.Refusal{
			{Verb: "apply", Resource: "mariadbs", Name: "openstack-db", Condition: "InfrastructureReady", Reason: "MariaDBError"},
			{Verb: "apply", Resource: "memcacheds", Name: "openstack-memcached", Condition: "InfrastructureReady", Reason: "MemcachedError"},
			{
				Verb: "apply", Resource: "networkpolicies", Name: "openstack-memcached.clients",
				Condition: "InfrastructureReady", Reason: "MemcachedError",
			},
		},
	}
}

func TestACredentialRotationConforms(t *testing.T) {
	t.Parallel()
	k := rotations(c5c3v1alpha1.CredentialRotationSpec{ReMint: true}, c5c3v1alpha1.RotationManual)
	withoutBreach(t)
	conformance.RunKind(t, k, &conform)
}

// rotations describes CredentialRotation, in a control plane that was ready before.
func rotations(
	spec c5c3v1alpha1.CredentialRotationSpec, mode c5c3v1alpha1.RotationMode,
) conformance.Kind[*c5c3v1alpha1.CredentialRotation] {
	owners := conformance.Trial[*c5c3v1alpha1.ControlPlane]{
		Kind: controlPlanes(func(cp *c5c3v1alpha1.ControlPlane) { inMode(cp, mode) }), World: &conform,
	}
	create := func(namespace string) *c5c3v1alpha1.CredentialRotation {
		return (&world{cp: minimal(namespace)}).rotation(*spec.DeepCopy())
	}
	return conformance.Kind[*c5c3v1alpha1.CredentialRotation]{
		Program:    impatient(&c5c3v1alpha1.ControlPlane{}, "controlplane"),
		Vocabulary: c5c3v1alpha1.Vocabularies()[1],
		New:        create,
		Inputs: func(namespace string) []client.Object {
			return append(owners.Inputs(namespace), owners.New(namespace))
		},
		Prepared: owners.Converged,
		Settled: func(ctx context.Context, namespace string) error {
			rotation := create(namespace)
			if err := lookForLockout(ctx, namespace); err != nil {
				return err
			}
			if err := conform.Admin.Get(ctx, client.ObjectKeyFromObject(rotation), rotation); err != nil {
				return err
			}
			if spec.ReMint && rotation.Status.LastTriggeredGeneration != rotation.Generation {
				return fmt.Errorf("the rotation is not done: %+v", rotation.Status)
			}
			return errors.Join(replacedCredential(ctx, namespace), owners.Converged(ctx, namespace))
		},
		Observe: func(ctx context.Context, namespace string) (any, error) {
			if err := lookForLockout(ctx, namespace); err != nil {
				return nil, err
			}
			return observed(ctx, namespace)
		},
		Compare: oneMoreCredential,
		Writes: map[string]int{
			"patch applicationcredentials.openstack.k-orc.cloud": 1, applyCredential: 2, deleteCredential: 2,
			"update credentialrotations.c5c3.io/status": 1, "update secrets": 2, "apply pushsecrets.external-secrets.io": 1,
			"apply externalsecrets.external-secrets.io": 1, updateStatus: 1,
		},
		StatusWrites: 5,
		Events:       []string{"Normal RotationNudged"},
		Watches:      watched,
		Refusals: []conformance.Refusal{{
			Verb: "patch", Resource: "applicationcredentials", Name: "controlplane-admin-app-credential",
			Condition: "Ready", Reason: "ReconcileError",
		}},
	}
}

// replacedCredential returns nil if the first application credential was replaced.
func replacedCredential(ctx context.Context, namespace string) error {
	credential := &orcv1alpha1.ApplicationCredential{}
	key := client.ObjectKey{Namespace: namespace, Name: "controlplane-admin-app-credential"}
	if err := conform.Admin.Get(ctx, key, credential); err != nil {
		return err
	}
	if credential.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash] == "" || korc.Made(namespace, "ApplicationCredential") < 2 {
		return errors.New("the credential is not replaced yet")
	}
	return nil
}

func TestASecretAggregateConforms(t *testing.T) {
	t.Parallel()
	conformance.RunKind(t, aggregates(), &conform)
}

// isRefused returns nil when the operator has reported that it refuses the control plane. It makes
// no requests about it after that.
func isRefused(ctx context.Context, namespace string) error {
	cp := minimal(namespace)
	if err := conform.Admin.Get(ctx, client.ObjectKeyFromObject(cp), cp); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(cp.Status.Conditions, "Stalled") {
		return errors.New("the control plane is not refused yet")
	}
	return nil
}

// aggregates describes SecretAggregate, in a control plane that the operator refuses, so that it
// works on nothing else.
func aggregates() conformance.Kind[*c5c3v1alpha1.SecretAggregate] {
	return conformance.Kind[*c5c3v1alpha1.SecretAggregate]{
		Program:    impatient(&corev1.Secret{}, "collected"),
		Vocabulary: c5c3v1alpha1.Vocabularies()[2],
		New: func(namespace string) *c5c3v1alpha1.SecretAggregate {
			return &c5c3v1alpha1.SecretAggregate{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "collected"}, Spec: c5c3v1alpha1.SecretAggregateSpec{
					Sources: []c5c3v1alpha1.SecretAggregateSource{{Credential: c5c3v1alpha1.AggregatedDatabaseCredentials}},
				},
			}
		},
		Inputs: func(namespace string) []client.Object {
			cp := minimal(namespace)
			cp.Spec.Infrastructure.Database.Host = "db.example.com"
			c5c3v1alpha1.SetDefaults(cp)
			cp.Spec.Services.Keystone.PublicEndpoint = "https:///v3"
			return []client.Object{cp, secretNamed(namespace, "keystone-db", "username", "keystone", "password", "first")}
		},
		Remains: func(aggregate *c5c3v1alpha1.SecretAggregate) []client.Object {
			former := secretNamed(aggregate.Namespace, "former")
			former.Labels = map[string]string{"app.kubernetes.io/managed-by": "c5c3-operator", aggregateLabel: aggregateComponent}
			former.OwnerReferences = []metav1.OwnerReference{
				*metav1.NewControllerRef(aggregate, c5c3v1alpha1.GroupVersion.WithKind("SecretAggregate")),
			}
			return []client.Object{former}
		},
		Settled: func(ctx context.Context, namespace string) error {
			names, err := collectedSecrets(ctx, namespace)
			if err == nil && len(names.Items) != 1 {
				err = fmt.Errorf("there are %d Secrets", len(names.Items))
			}
			return errors.Join(err, isRefused(ctx, namespace))
		},
		Observe: func(ctx context.Context, namespace string) (any, error) {
			found, err := collectedSecrets(ctx, namespace)
			content := map[string]string{}
			for _, secret := range found.Items {
				for key, value := range secret.Data {
					content[secret.Name+"/"+key] = string(value)
				}
			}
			return content, err
		},
		Writes:       map[string]int{"create secrets": 1, "delete secrets": 1, "update secretaggregates.c5c3.io/status": 1},
		StatusWrites: 2,
		Events:       []string{"Normal SecretsAggregated"},
		Watches:      watched,
		Drifts: []conformance.Drift{conformance.DriftOf(&corev1.Secret{}, "collected", "data",
			func(s *corev1.Secret) *map[string][]byte { return &s.Data }, map[string][]byte{"foreign": []byte("x")})},
		Obstructions: func(_ *testing.T, namespace string) []conformance.Obstruction {
			return []conformance.Obstruction{
				{Object: secretNamed(namespace, "collected", "key", "theirs"), Condition: "Ready", Reason: "SecretError"},
			}
		},
		Long: true,
	}
}

const (
	aggregateLabel     = "app.kubernetes.io/component"
	aggregateComponent = "secret-aggregate"
)

func collectedSecrets(ctx context.Context, namespace string) (corev1.SecretList, error) {
	var found corev1.SecretList
	err := conform.Admin.List(ctx, &found, client.InNamespace(namespace), client.MatchingLabels{aggregateLabel: aggregateComponent})
	return found, err
}

func secretNamed(namespace, name string, entries ...string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{}}
	for entry := range slices.Chunk(entries, 2) {
		secret.StringData[entry[0]] = entry[1]
	}
	return secret
}
