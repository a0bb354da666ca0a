package operators

import (
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Scheme has the resource, and the kinds that a World creates.
func (o *Operator) Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, o.AddToScheme, esov1.AddToScheme} {
		// It fails only for types that contradict each other.
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}
