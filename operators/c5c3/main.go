// The c5c3 operator brings up and runs OpenStack control planes.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/webhook"
)

// rotationDayVariable shortens the days of CredentialRotations, so that a test on
// a real cluster sees several rotations. It is not meant for anything else.
const rotationDayVariable = "C5C3_ROTATION_DAY"

//go:embed config/crd/bases/*.yaml
var crds embed.FS

func main() {
	operator.Main(options())
}

func options() operator.Options {
	korc := namespace(controller.DefaultKORCNamespace)
	return operator.Options{
		Name:             "c5c3-operator",
		LeaderElectionID: "c5c3.openstack.c5c3.io",
		Scheme:           controller.Scheme(),
		CacheTransform:   controller.Trim,
		Definitions:      crds,
		Flags: func(fs *flag.FlagSet) {
			fs.Var(&korc, "korc-namespace", "Namespace of K-ORC. A Keystone with spec.networkPolicy admits it.")
		},
		Setup: func(ctx context.Context, mgr ctrl.Manager, cfg startup.Config) error {
			return setup(ctx, mgr, cfg, korc.String())
		},
		Webhooks: func(mgr ctrl.Manager, _ startup.Config) error {
			if err := webhook.NewCredentialRotationWebhook().SetupWebhookWithManager(mgr); err != nil {
				return err
			}
			return webhook.NewControlPlaneWebhook().SetupWebhookWithManager(mgr)
		},
	}
}

// namespace is a flag with the name of a namespace.
type namespace string

// String returns the name.
func (n *namespace) String() string { return string(*n) }

// Set replaces the name.
func (n *namespace) Set(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("%q is not a valid name of a namespace: %s", name, problems[0])
	}
	*n = namespace(name)
	return nil
}

func setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, korcNamespace string) error {
	day, err := rotationDay(os.Getenv(rotationDayVariable))
	if err != nil {
		return err
	}
	if day != 0 {
		mgr.GetLogger().Info("Days of CredentialRotations are shortened, which is for tests only", "day", day.String())
	}
	return controller.Setup(ctx, mgr, cfg, controller.Options{Day: day, KORCNamespace: korcNamespace})
}

// rotationDay is the length of a day that the environment asks for, zero for that
// of a calendar.
func rotationDay(value string) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	day, err := time.ParseDuration(value)
	if err != nil || day < time.Second {
		return 0, fmt.Errorf("the environment variable %s is %q: set it to a duration of at least 1s such as 15s, or remove it",
			rotationDayVariable, value)
	}
	return day, nil
}
