package world

import (
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, keystonev1alpha1.AddToScheme, esov1.AddToScheme} {
		// It fails only for types that contradict each other.
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}
