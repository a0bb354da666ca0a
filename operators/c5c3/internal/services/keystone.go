package services

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones;keystoneidentitybackends,verbs=get;list;watch;create;patch;delete

// Keystone is the Identity service.
var Keystone = Service{
	name:        "keystone",
	Kind:        keystonev1alpha1.GroupVersion.WithKind("Keystone"),
	AddToScheme: keystonev1alpha1.AddToScheme,

	condition: c5c3v1alpha1.ConditionKeystoneReady,
	reasons: reasons{
		ready: c5c3v1alpha1.ReasonKeystoneReady, notManaged: c5c3v1alpha1.ReasonKeystoneNotManaged,
		notInstalled: c5c3v1alpha1.ReasonKeystoneNotInstalled, failed: c5c3v1alpha1.ReasonKeystoneError,
		rejected: c5c3v1alpha1.ReasonKeystoneProjectionRejected, rollBackRefused: c5c3v1alpha1.ReasonRollBackRefused,
		waiting: c5c3v1alpha1.ReasonWaitingForKeystone, finalizing: c5c3v1alpha1.ReasonFinalizingKeystone,
	},
	needs: []string{StepInfrastructure, StepRestore}, heldBack: c5c3v1alpha1.ReasonWaitingForInfrastructure,

	wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Spec.Services.Keystone != nil },
	image:  func(cp *c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return cp.Spec.Services.Keystone.Image },

	childName:     (*c5c3v1alpha1.ControlPlane).KeystoneName,
	Empty:         func() child { return &keystonev1alpha1.Keystone{} },
	child:         func(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) { return keystoneChild(cp, with) },
	allowDeletion: c5c3v1alpha1.AnnotationAllowKeystoneDeletion,
	Parts: &Parts{
		Kind:     keystonev1alpha1.GroupVersion.WithKind(keystonev1alpha1.KindIdentityBackend),
		Empty:    func() part { return &keystonev1alpha1.KeystoneIdentityBackend{} },
		list:     func() client.ObjectList { return &keystonev1alpha1.KeystoneIdentityBackendList{} },
		wanted:   identityBackends,
		optional: true,
	},

	Database: &Database{
		Secret:    func(cp *c5c3v1alpha1.ControlPlane) string { return cp.DatabaseSecretRef().Name },
		Path:      databasePath,
		name:      func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Spec.Infrastructure.Database.Database },
		runAgain:  keystonev1alpha1.AnnotationRunAgain,
		finalizer: "c5c3.io/keystone-teardown", stalled: c5c3v1alpha1.EventKeystoneTeardownStalled,
	},
	pods:    keystonev1alpha1.PodSelector,
	clients: keystoneClients,

	catalogType: "identity",
	endpoints:   []endpoint{{interfaceName: "public", url: catalogURL}},

	domains: domainsOf,
}

const keystoneRepository = "ghcr.io/c5c3/keystone"

// domainsOf returns the domains of a Keystone whose users log in with an identity backend.
func domainsOf(child child) []identityDomain {
	if keystone, is := child.(*keystonev1alpha1.Keystone); is {
		return keystone.Status.IdentityDomains
	}
	return nil
}

// keystoneChild builds the Keystone of a control plane. Fields that it leaves unset keep
// the Keystone's defaults, or what other managers have set.
func keystoneChild(cp *c5c3v1alpha1.ControlPlane, with given) (*keystonev1alpha1.Keystone, error) {
	service := cp.Spec.Services.Keystone
	keystone := &keystonev1alpha1.Keystone{
		ObjectMeta: controlplane.ChildMeta(cp, cp.KeystoneName()),
		Spec: keystonev1alpha1.KeystoneSpec{
			ServiceSpec: specOf(cp, &service.ServiceSpec, keystoneRepository),
			DataSpec:    dataOf(cp, cp.Spec.Infrastructure.Database.Database, cp.DatabaseSecretRef()),
			OptionsSpec: optionsOf(cp, &service.ServiceAPISpec, with),
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminPasswordSecretRef: cp.AdminSecretRef(), Region: cp.Spec.Region, PublicEndpoint: publicEndpoint(service),
			},
			TrustedDashboards: trustedDashboards(cp),
			ProxyImage:        service.ProxyImage.DeepCopy(),
		},
	}
	if service.RotationInterval != nil {
		schedule, err := rotationSchedule(*service.RotationInterval)
		if err != nil {
			return nil, err
		}
		keystone.Spec.Fernet.RotationSchedule = schedule
		keystone.Spec.CredentialKeys.RotationSchedule = schedule
	}
	return keystone, nil
}

// publicEndpoint returns "" for a Keystone that is only reachable inside the cluster.
func publicEndpoint(service *c5c3v1alpha1.ServiceKeystoneSpec) string {
	return publicURL(&service.ServiceSpec, &service.ServiceAPISpec, keystonev1alpha1.GatewayEndpoint)
}

// rotationSchedule returns the interval as a schedule. Days of the month or the week
// cannot express every n days, so intervals other than a day or a week count from the
// last rotation.
func rotationSchedule(interval metav1.Duration) (string, error) {
	days, ok := c5c3v1alpha1.RotationDays(interval)
	switch {
	case !ok:
		return "", fmt.Errorf("spec.services.keystone.rotationInterval is %s: set it to a positive multiple of 24h, for example 168h",
			interval.Duration)
	case days == 1:
		return "0 0 * * *", nil
	case days == 7:
		return "0 0 * * 0", nil
	}
	return fmt.Sprintf("@every %dh", 24*days), nil
}

// catalogURL returns the URL that Keystone's own bootstrap registers, so that K-ORC
// adopts that endpoint instead of adding a second one.
func catalogURL(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	if url := publicEndpoint(cp.Spec.Services.Keystone); url != "" {
		return url
	}
	return keystonev1alpha1.InternalEndpoint(c, cp.Namespace, cp.KeystoneName())
}

func databasePath(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.StorePath(c, cp.Namespace, cp.Name, "db")
}

// keystoneClients allows pods of the namespaces to reach the API pods of the control
// plane's Keystone.
func keystoneClients(cp *c5c3v1alpha1.ControlPlane, namespaces []string) *networkingv1.NetworkPolicy {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(namespaces))
	for _, namespace := range namespaces {
		peers = append(peers, networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
		}})
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: controlplane.ChildMeta(cp, keystonev1alpha1.ClientsPolicyName(cp.KeystoneName())),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: keystonev1alpha1.SelectorLabels(cp.KeystoneName())},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  peers,
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(keystonev1alpha1.APIPort))}},
			}},
		},
	}
}
