package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/optional"
	"github.com/c5c3/forge/internal/common/refs"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// toolbox is what the steps of every pass work with.
type toolbox struct {
	client client.Client
	// foreign is client for the kinds of other operators.
	foreign client.Client
	scheme  *runtime.Scheme
	refs    *refs.Reader
	kinds   *optional.Kinds
}

// scope is one pass over one ControlPlane.
type scope struct {
	*toolbox
	cp *c5c3v1alpha1.ControlPlane
}

func (s *scope) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.cp.Namespace, Name: name}
}
