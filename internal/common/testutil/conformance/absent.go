package conformance

import (
	"strings"
	"testing"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// bare is an API server without any third-party kinds, and one operator for all of its
// namespaces that is never restarted.
type bare[T service.Resource] struct {
	*testing.T
	suite[T]
	operator *running.Operator
	api      *running.API
}

func (s suite[T]) bare(t *testing.T) *bare[T] {
	t.Helper()
	e := envtest.Start(t, envtest.Options{CRDs: []string{definitions}})
	b := &bare[T]{T: t, api: &running.API{}, suite: suite[T]{s.Service, &World{
		Env: e, Admin: e.Client(t, s.Program.Options.Scheme),
		Deployments: standin.NewDeployments(), Jobs: standin.NewJobs(), Secrets: standin.NewExternalSecrets(),
	}}}
	standin.Start(b, b.Env.Config, b.Deployments, b.Jobs)
	var err error
	if b.AsOperator, err = operatorUser(t.Context(), e, s.Program.Options.Name); err != nil {
		t.Fatal(err)
	}
	// Kinds are discovered by watching their definitions, so the interval does not
	// matter.
	b.operator = running.Start(t, s.Program, b.AsOperator, "", controller.Options{Probe: s.probe(b.api), DiscoveryInterval: time.Hour})
	return b
}

// create creates a resource of the mode in its own namespace, after a change and with its
// Secrets except the named one.
func (b *bare[T]) create(m mode, without string, change func(*commonv1.ServiceSpec)) *Instance[T] {
	b.Helper()
	namespace := b.Env.Namespace(b.T)
	for _, input := range b.Inputs(namespace) {
		if input.GetName() != without {
			objects.Create(b.T, b.Admin, input)
		}
	}
	i := &Instance[T]{object[T]{
		T: b.T, trial: Trial[T]{b.kind(m), b.World}, Resource: b.make(namespace, m), Operator: b.operator, API: b.api,
	}, b.suite}
	change(i.Resource.ServiceSpec())
	// One operator sees them all, and a database may only be used by one resource.
	if b.hasData() {
		i.data().Database.Database += strings.ReplaceAll("-"+namespace, "-", "_")
	}
	i.Create()
	return i
}

func asIs(*commonv1.ServiceSpec) {}

// installMariaDB installs mariadb-operator and a MariaDB for the resource.
func (b *bare[T]) installMariaDB(managed *Instance[T]) (operator *standin.MariaDB, stop func()) {
	b.Helper()
	thirdparty.Install(b.T, b.Env.Config, thirdparty.MariaDB)
	operator = standin.NewMariaDB()
	stop = standin.Start(b, b.Env.Config, operator)
	managed.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonClusterNotReady, cluster)
	objects.Create(b.T, b.Admin, mariaDB(managed.namespace()))
	managed.Ready()
	return operator, stop
}

// removeMariaDB removes the kinds of mariadb-operator with all their objects. The
// finalizers are removed first: the API server waits for five seconds if there are any.
func (b *bare[T]) removeMariaDB(operator *standin.MariaDB, managed *Instance[T]) {
	b.Helper()
	for _, kind := range []string{"Database", "User", "Grant"} {
		operator.Set(kind, managed.namespace(), managed.name(), standin.Hang())
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: managed.namespace(), Name: managed.name()}}
		obj.SetGroupVersionKind(mariadbv1alpha1.GroupVersion.WithKind(kind))
		objects.Change(b.T, b.Admin, obj, func(o *metav1.PartialObjectMetadata) { o.Finalizers = nil })
	}
	thirdparty.Remove(b.T, b.Env.Config, thirdparty.MariaDB)
	managed.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonMariaDBNotInstalled)
}

// absent verifies that kinds of other projects may come and go while the operator is
// running.
func (s suite[T]) absent(t *testing.T) {
	t.Parallel()
	b := s.bare(t)
	untouched := b.create(brownfield, "", asIs)
	published := b.create(brownfield, "", func(spec *commonv1.ServiceSpec) {
		spec.Gateway = &commonv1.GatewaySpec{Hostname: "api.example.com", ParentRef: commonv1.GatewayParentRefSpec{Name: "gateway"}}
	})
	ready := func() {
		t.Helper()
		untouched.Condition(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	}
	// A missing kind only matters to resources that ask for it.
	ready()
	published.Fails(vocabulary.ConditionHTTPRouteReady, vocabulary.ReasonGatewayAPINotInstalled)
	published.Condition(vocabulary.ConditionDeploymentReady, metav1.ConditionTrue, vocabulary.ReasonDeploymentReady)
	b.acceptRoute(published)
	if s.hasData() {
		b.absentDatabase(ready)
	} else {
		files := &commonv1.VolumeFiles{Name: "files"}
		delivered := b.create(plain, "", func(spec *commonv1.ServiceSpec) {
			spec.ExtraVolumes = []commonv1.ExtraVolume{{Name: "files", MountPath: "/extra", Secret: files}}
		})
		b.deliver(delivered, files.Name, vocabulary.ReasonWaitingForPodInputs)
	}
	ready()
}

// absentDatabase verifies this for the kinds that a database needs. ready verifies that
// resources which do not ask for them do not notice.
func (b *bare[T]) absentDatabase(ready func()) {
	b.Helper()
	inCluster := b.create(managed, "", asIs)
	delivered := b.create(brownfield, b.databaseSecret(), asIs)
	inCluster.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonMariaDBNotInstalled,
		"spec.database.clusterRef", "mariadb-operator", "install")
	b.deliver(delivered, b.databaseSecret(), vocabulary.ReasonWaitingForDBCredentials)
	operator, stop := b.installMariaDB(inCluster)
	b.removeMariaDB(operator, inCluster)
	stop()
	ready()
	operator, _ = b.installMariaDB(inCluster)
	// A deletion also completes if the kinds are gone.
	b.removeMariaDB(operator, inCluster)
	objects.Delete(b.T, b.Admin, client.Object(inCluster.copied()))
	inCluster.gone()
}

// acceptRoute installs the Gateway API and simulates the Gateway.
func (b *bare[T]) acceptRoute(published *Instance[T]) {
	b.Helper()
	thirdparty.Install(b.T, b.Env.Config, thirdparty.GatewayAPI)
	published.Fails(vocabulary.ConditionHTTPRouteReady, vocabulary.ReasonHTTPRouteNotAccepted)
	published.settle()
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: published.namespace(), Name: published.name()}}
	objects.ChangeStatus(b.T, b.Admin, route, func(r *gatewayv1.HTTPRoute) {
		condition := func(conditionType gatewayv1.RouteConditionType) metav1.Condition {
			return metav1.Condition{
				Type: string(conditionType), Status: metav1.ConditionTrue, Reason: "Fine",
				ObservedGeneration: r.Generation, LastTransitionTime: metav1.Now(),
			}
		}
		r.Status.Parents = []gatewayv1.RouteParentStatus{{
			ParentRef: r.Spec.ParentRefs[0], ControllerName: "example.com/gateway",
			Conditions: []metav1.Condition{condition(gatewayv1.RouteConditionAccepted), condition(gatewayv1.RouteConditionResolvedRefs)},
		}}
	})
	published.Condition(vocabulary.ConditionHTTPRouteReady, metav1.ConditionTrue, vocabulary.ReasonHTTPRouteAccepted)
}

// deliver installs External Secrets, with a store that does not work at first. The instance
// waits for the named Secret with the reason.
func (b *bare[T]) deliver(delivered *Instance[T], name, reason string) {
	b.Helper()
	delivered.Fails(vocabulary.ConditionSecretsReady, reason, "create it")
	thirdparty.Install(b.T, b.Env.Config, thirdparty.ExternalSecrets)
	standin.Start(b, b.Env.Config, b.Secrets)
	const credentials = vocabulary.ConditionSecretsReady
	store := &esv1.ClusterSecretStore{ObjectMeta: metav1.ObjectMeta{Name: secrets.StoreName}}
	store.Spec.Provider = &esv1.SecretStoreProvider{Fake: &esv1.FakeProvider{Data: []esv1.FakeProviderData{}}}
	filled := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: delivered.namespace(), Name: name}}
	filled.Spec.SecretStoreRef = esv1.SecretStoreRef{Name: store.Name, Kind: esv1.ClusterSecretStoreKind}
	for _, key := range []string{"username", "password"} {
		filled.Spec.Data = append(filled.Spec.Data, esv1.ExternalSecretData{
			SecretKey: key, RemoteRef: esv1.ExternalSecretDataRemoteRef{Key: "database", Property: key},
		})
	}
	b.Secrets.Set(esv1.ClusterSecretStoreKind, "", store.Name, standin.Fail("sealed"))
	objects.Create(b.T, b.Admin, store, filled)
	delivered.Fails(credentials, vocabulary.ReasonSecretStoreNotReady, store.Name)
	b.Secrets.Set(esv1.ClusterSecretStoreKind, "", store.Name, standin.Succeed())
	delivered.Fails(credentials, reason, "ExternalSecret")
	b.Secrets.Put("database", map[string]string{"username": "u", "password": "p"})
	b.Secrets.Set(esv1.ExtSecretKind, delivered.namespace(), name, standin.Succeed())
	expect.Exists(b.T, b.Admin, delivered.secret(name, nil))
	delivered.Ready()
}
