package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/c5c3/forge/internal/common/operator/definitions"
)

// ApplyDefinitions is the argument that makes an operator create or update its
// CustomResourceDefinitions and exit, instead of running. The hook of
// its chart uses it.
const ApplyDefinitions = "apply-crds"

const (
	// servedTimeout is far more than an API server takes to serve a definition.
	servedTimeout  = time.Minute
	servedInterval = 500 * time.Millisecond
)

// applyDefinitions implements [ApplyDefinitions].
func applyDefinitions(ctx context.Context, o Options, args []string, restConfig *rest.Config) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: %s takes none", args[0], ApplyDefinitions)}
	}
	if o.Definitions == nil {
		return usageError{errors.New("this operator has no CustomResourceDefinitions")}
	}
	return applyAll(ctx, []Options{o}, restConfig)
}

// applyAll applies the definitions of the operators, and waits until they are served.
func applyAll(ctx context.Context, operators []Options, restConfig *rest.Config) error {
	var wanted []*apiextensionsv1.CustomResourceDefinition
	for _, o := range operators {
		read, err := definitions.Read(o.Definitions)
		if err != nil {
			return fmt.Errorf("the definitions of %s: %w", o.Name, err)
		}
		wanted = append(wanted, read...)
	}
	restConfig, err := connection(restConfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	ctx = log.IntoContext(ctx, zap.New())
	if err := definitions.Apply(ctx, c, wanted); err != nil {
		return err
	}
	return awaitServed(ctx, c, wanted)
}

// awaitServed returns when the definitions are served.
func awaitServed(ctx context.Context, c client.Client, wanted []*apiextensionsv1.CustomResourceDefinition) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, servedInterval, servedTimeout, true, func(ctx context.Context) (bool, error) {
		last = definitions.Served(ctx, c, wanted)
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(last, err)
	}
	return nil
}
