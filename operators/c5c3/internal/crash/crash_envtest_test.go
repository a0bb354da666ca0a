//go:build integration

// Package crash walks a control plane to Ready and through its deletion with an
// operator that dies at every write, and to Ready with an API server that refuses
// every call once.
package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

var (
	env        *envtest.Env
	asOperator *rest.Config
	secrets    = standin.NewExternalSecrets()
	korc       = standin.NewKORC()
)

func TestMain(m *testing.M) {
	o := envtest.Options{
		CRDs: []string{
			"../../config/crd/bases", "../../../keystone/config/crd/bases", "../../../placement/config/crd/bases",
			"../../../../deploy/infra/memcached-operator/crd.yaml",
		},
		ThirdParty:       []thirdparty.Project{thirdparty.MariaDB, thirdparty.ExternalSecrets, thirdparty.KORC},
		GarbageCollector: true,
	}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		env = e
		if asOperator, err = e.User(ctx, "c5c3-operator", "../../helm/c5c3-operator/files/rbac-rules.yaml"); err != nil {
			return err
		}
		if err := playServices(ctx, e.Config); err != nil {
			return err
		}
		return standin.Run(ctx, e.Config, standin.NewMariaDB(), standin.NewReady(infraapi.MemcachedKind), secrets, korc)
	})
}

// playServices simulates the operators of the services: it makes all their resources
// ready, unless an offline upgrade is held.
func playServices(ctx context.Context, cfg *rest.Config) error {
	c, err := client.New(cfg, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return err
	}
	install := func(obj client.Object, status *commonv1.ServiceStatus, tag string) bool {
		status.ObservedGeneration = obj.GetGeneration()
		if hold(obj, status, tag) {
			return false
		}
		status.InstalledRelease = tag
		return true
	}
	return errors.Join(
		play(ctx, cfg, &keystonev1alpha1.KeystoneList{}, func(k *keystonev1alpha1.Keystone) bool {
			watchOrder(ctx, c, k)
			return install(k, &k.Status.ServiceStatus, k.Spec.Image.Tag)
		}),
		play(ctx, cfg, &placementv1alpha1.PlacementList{}, func(p *placementv1alpha1.Placement) bool {
			return install(p, &p.Status.ServiceStatus, p.Spec.Image.Tag)
		}),
	)
}

// serviceResource is the resource of a service.
type serviceResource interface {
	client.Object
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
}

func play[T serviceResource](ctx context.Context, cfg *rest.Config, list client.ObjectList, install func(T) bool) error {
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: controller.Scheme()})
	if err != nil {
		return err
	}
	events, err := c.Watch(ctx, list)
	if err != nil {
		return err
	}
	go func() {
		for event := range events.ResultChan() {
			obj, ok := event.Object.(T)
			if !ok {
				continue
			}
			ready := meta.FindStatusCondition(obj.GetConditions(), "Ready")
			if ready != nil && ready.ObservedGeneration == obj.GetGeneration() && ready.Status == metav1.ConditionTrue {
				continue
			}
			before, _ := obj.DeepCopyObject().(client.Object)
			condition := metav1.Condition{
				Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", ObservedGeneration: obj.GetGeneration(),
			}
			if install(obj) {
				condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "AllReady", "ready"
			}
			conditions := obj.GetConditions()
			meta.SetStatusCondition(&conditions, condition)
			obj.SetConditions(conditions)
			// An error is ignored because the resource may have been deleted.
			_ = c.Status().Patch(ctx, obj, client.MergeFrom(before))
		}
	}()
	return nil
}

func run(ctx context.Context, cfg *rest.Config, namespace string) error {
	return runLate(ctx, cfg, namespace, 0)
}

// runLate runs an operator whose clock is ahead of the API server's, so that K-ORC seems
// to take that much longer.
func runLate(ctx context.Context, cfg *rest.Config, namespace string, late time.Duration) error {
	options := controller.Options{DiscoveryInterval: time.Second, Adjust: func(t *pass.Tools) {
		testutil.Asking(korc)(t)
		t.Clock = func() time.Time { return time.Now().Add(late) }
		t.RetryPeriod, t.StallTimeout, t.SpreadTime = 500*time.Millisecond, late+5*time.Minute, time.Second
	}}
	return testutil.RunIn(ctx, cfg, namespace, options, logr.Discard())
}

func controlPlane(namespace string) *c5c3v1alpha1.ControlPlane {
	return &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: namespace},
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.2", Services: c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
		},
	}
}

func prepare(ctx context.Context, c client.Client, changes ...func(*c5c3v1alpha1.ControlPlane)) (namespace string, err error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := c.Create(ctx, ns); err != nil {
		return "", err
	}
	secrets.Put("openstack/keystone/"+ns.Name+"/controlplane/db", map[string]string{"username": "keystone", "password": "p"})
	secrets.Put("bootstrap/"+ns.Name+"/controlplane-keystone/admin", map[string]string{"password": "p"})
	secrets.Put("openstack/placement/"+ns.Name+"/controlplane/db", map[string]string{"username": "placement", "password": "p"})
	cp := controlPlane(ns.Name)
	for _, change := range changes {
		change(cp)
	}
	return ns.Name, c.Create(ctx, cp)
}

// Kinds of writes that several walks have in common.
const (
	applyCredential  = "apply applicationcredentials.openstack.k-orc.cloud"
	deleteCredential = "delete applicationcredentials.openstack.k-orc.cloud"
	updateStatus     = "update controlplanes.c5c3.io/status"
)

// state is what a run is judged by.
type state struct {
	Conditions map[string]string
	// Resources counts the resources in Keystone by kind.
	Resources map[string]int
	// Objects counts the K-ORC objects for application credentials.
	Objects int
	// Made counts the application credentials that were ever created.
	Made int
}

func observe(ctx context.Context, c client.Client, namespace string) (state, error) {
	s := state{Conditions: map[string]string{}, Resources: map[string]int{}, Made: korc.Made(namespace, "ApplicationCredential")}
	cp := controlPlane(namespace)
	if err := c.Get(ctx, client.ObjectKeyFromObject(cp), cp); client.IgnoreNotFound(err) != nil {
		return s, err
	}
	for _, condition := range cp.Status.Conditions {
		s.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	for _, kind := range []string{"ApplicationCredential", "Service", "Endpoint"} {
		s.Resources[kind] = len(korc.Names(namespace, kind))
	}
	var credentials orcv1alpha1.ApplicationCredentialList
	err := c.List(ctx, &credentials, client.InNamespace(namespace))
	s.Objects = len(credentials.Items)
	return s, err
}

func compare(undisturbed, _, final state) string {
	if diff := cmp.Diff(undisturbed, final); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

func ready(ctx context.Context, c client.Client, namespace string) error {
	cp := controlPlane(namespace)
	if err := c.Get(ctx, client.ObjectKeyFromObject(cp), cp); err != nil {
		return err
	}
	condition := meta.FindStatusCondition(cp.Status.Conditions, "Ready")
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return fmt.Errorf("the ControlPlane is not ready: %+v", condition)
	}
	if found := korc.Names(namespace, "ApplicationCredential"); len(found) != 1 {
		return fmt.Errorf("keystone has the application credentials %v", found)
	}
	var objects orcv1alpha1.ApplicationCredentialList
	if err := c.List(ctx, &objects, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(objects.Items) != 1 {
		return fmt.Errorf("there are %d objects of application credentials", len(objects.Items))
	}
	return nil
}

// wayToReady is the walk of a new control plane to Ready, with failing writes.
func wayToReady(t *testing.T, failures ...transport.Mode) crashwalk.Scenario[state] {
	t.Helper()
	c := env.Client(t, controller.Scheme())
	return crashwalk.Scenario[state]{
		Config: asOperator,
		Modes:  failures,
		Writes: map[string]int{
			"patch controlplanes.c5c3.io": 1, "apply mariadbs.k8s.mariadb.com": 1, "apply memcacheds.memcached.c5c3.io": 1,
			"apply networkpolicies.networking.k8s.io": 1, "apply keystones.keystone.openstack.c5c3.io": 1, "create secrets": 2, "update secrets": 1,
			"apply externalsecrets.external-secrets.io": 3, "apply pushsecrets.external-secrets.io": 1, "apply domains.openstack.k-orc.cloud": 1,
			"apply users.openstack.k-orc.cloud": 1, applyCredential: 1, "apply services.openstack.k-orc.cloud": 1,
			"apply endpoints.openstack.k-orc.cloud": 1, updateStatus: 1,
		},
		Prepare:  func(ctx context.Context) (string, error) { return prepare(ctx, c) },
		Operator: run,
		Settled:  func(ctx context.Context, namespace string) error { return ready(ctx, c, namespace) },
		Observe:  func(ctx context.Context, namespace string) (state, error) { return observe(ctx, c, namespace) },
		Compare:  compare,
	}
}

func TestAnOperatorKilledAtAnyWriteMakesOneCredentialThatWorks(t *testing.T) {
	crashwalk.Walk(t, wayToReady(t, transport.KillAfter))
}

func TestAControlPlaneComesUpWhateverTheAPIServerAnswersToAnyCall(t *testing.T) {
	way := wayToReady(t, transport.Conflict, transport.TooManyRequests, transport.InternalError, transport.Timeout)
	way.EveryCall, way.Long = true, true
	crashwalk.Walk(t, way)
}

// whileRunning prepares a control plane that was ready and changes it while no operator
// is running.
func whileRunning(
	ctx context.Context, c client.Client, change func(namespace string) error, changes ...func(*c5c3v1alpha1.ControlPlane),
) (string, error) {
	namespace, err := prepare(ctx, c, changes...)
	if err != nil {
		return "", err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(running, asOperator, namespace) }()
	err = expect.Until(ctx, func(ctx context.Context) error { return ready(ctx, c, namespace) })
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return "", err
	}
	return namespace, change(namespace)
}

func TestAnOperatorKilledDuringDeletionRevokesTheCredential(t *testing.T) {
	c := env.Client(t, controller.Scheme())
	remove := func(namespace string) error { return c.Delete(t.Context(), controlPlane(namespace)) }
	crashwalk.Walk(t, crashwalk.Scenario[state]{
		Config: asOperator,
		Writes: map[string]int{
			deleteCredential: 1, "delete endpoints.openstack.k-orc.cloud": 1, "delete services.openstack.k-orc.cloud": 1,
			"delete users.openstack.k-orc.cloud": 1, "delete domains.openstack.k-orc.cloud": 1,
			"delete pushsecrets.external-secrets.io": 1, "delete keystones.keystone.openstack.c5c3.io": 1,
			"patch controlplanes.c5c3.io": 1, updateStatus: 1,
		},
		Prepare:  func(ctx context.Context) (string, error) { return whileRunning(ctx, c, remove) },
		Operator: run,
		Settled: func(ctx context.Context, namespace string) error {
			err := c.Get(ctx, client.ObjectKeyFromObject(controlPlane(namespace)), controlPlane(namespace))
			if !apierrors.IsNotFound(err) {
				return errors.Join(errors.New("the ControlPlane is still there"), err)
			}
			return nil
		},
		Observe: func(ctx context.Context, namespace string) (state, error) {
			s, err := observe(ctx, c, namespace)
			if stored := secrets.Stored(fmt.Sprintf("openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored != nil {
				s.Resources["copies in the store"] = 1
			}
			s.Conditions, s.Objects = nil, 0
			return s, err
		},
		Compare: func(undisturbed, _, final state) string {
			// Keystone itself registers its catalog entry.
			if left := strings.TrimPrefix(fmt.Sprint(undisturbed.Resources), "map[ApplicationCredential:0 Endpoint:1 Service:1]"); left != "" {
				return "the undisturbed run left " + left
			}
			return compare(undisturbed, state{}, final)
		},
	})
}
