package controller

import (
	"cmp"
	"context"
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/c5c3/internal/credentialrotation"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/metrics"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/secretaggregate"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// DefaultKORCNamespace is the namespace in K-ORC's own manifests.
const DefaultKORCNamespace = "orc-system"

// Options are set by the operator's own flags and overridden by tests; the zero value is
// the default.
type Options struct {
	// Options are those of the controllers of any operator.
	controller.Options
	// KORCNamespace is where K-ORC runs; empty means [DefaultKORCNamespace].
	KORCNamespace string
	// Day is the length of a day in a CredentialRotation; zero means 24 hours.
	Day time.Duration
	// Adjust changes the tools of the passes; nil leaves them as they are.
	Adjust func(*pass.Tools)
}

// Setup registers the controllers with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, options Options) error {
	shared, err := controller.NewShared(mgr, cfg, options.Options, metrics.Prefix)
	if err != nil {
		return err
	}
	tools := newTools(shared, options)
	return errors.Join(
		secretaggregate.Controller.Setup(ctx, shared, tools),
		controlPlanes.Setup(ctx, shared, tools),
		credentialrotation.Controller.Setup(ctx, shared, tools),
	)
}

func newTools(in *controller.Shared, options Options) *pass.Tools {
	admin := identity.NewAdministrator(nil)
	tools := &pass.Tools{
		Access: in.Access,
		Login:  identity.LogIn, RevokeCredential: admin.Revoke, Enrol: admin.Enrol, DeleteUser: admin.DeleteUser,
		SetEndpoints: admin.SetEndpoints, FindEndpoint: admin.FindEndpoint,
		FindEntries: admin.FindEntries, RemoveEntry: admin.RemoveEntry,
		Day:          cmp.Or(options.Day, 24*time.Hour),
		StallTimeout: pass.DefaultStallTimeout, RetryPeriod: pass.DefaultRetryPeriod, SpreadTime: in.Config.Propagation(),
		ServiceClients: services.NamespacesOf(in.Config.OperatorNamespace, cmp.Or(options.KORCNamespace, DefaultKORCNamespace)),
	}
	if options.Adjust != nil {
		options.Adjust(tools)
	}
	tools.Proofs = identity.NewProofs(tools.Login, tools.Now, identity.ProofPeriod, min(identity.LoginPeriod, tools.RetryPeriod))
	return tools
}
