package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator/startup"
)

// Group is a program that runs several operators. Each has what it has as a program of its own:
// its Lease, its caches and its controllers. So only one of the two programs works on its resources
// at a time, and it does not matter to them which. They share the process with its metrics, health
// checks, profiles, and the server of the webhooks with its certificate.
type Group struct {
	// Name is the name of the program, such as openstack-operator.
	Name string
	// Operators are the operators that the program can run.
	Operators []Options
}

// endTimeout is how long the other operators of a group may take to stop once one has failed. If
// that one has lost its Lease, it is the time for which it is still sure that nobody else has it.
const endTimeout = leaseDuration - renewDeadline - 5*time.Second

// Main runs the program as [Main] runs one with a single operator.
func (g Group) Main() {
	tuneCollector()
	os.Exit(exitCode(g.Run(ctrl.SetupSignalHandler(), os.Args[1:], nil)))
}

// Run parses args and runs the operators that they select until ctx ends or one of them fails. As
// with [Run], the process must end afterwards, and [ApplyDefinitions] applies the definitions instead.
func (g Group) Run(ctx context.Context, args []string, restConfig *rest.Config) error {
	if len(args) > 0 && args[0] == ApplyDefinitions {
		chosen, err := g.parseServices(args[1:])
		if err != nil {
			return usageError{err}
		}
		return applyAll(ctx, chosen.operators(), restConfig)
	}
	s, chosen, err := g.parse(args)
	if err != nil {
		return usageError{err}
	}
	if restConfig, err = begin(s, restConfig); err != nil {
		return err
	}
	p := &process{name: g.Name}
	for _, one := range chosen {
		p.members = append(p.members, newMember(one, s, restConfig))
	}
	if err := p.setUp(ctx, s, restConfig); err != nil {
		return err
	}
	announce(g.Name, s)
	return p.run(ctx)
}

// process is what a group has while it runs: the operators that were chosen.
type process struct {
	name    string
	members []*member
	// host serves what the members share. It has no Lease.
	host ctrl.Manager
}

// setUp builds the host, which is an operator without a controller.
func (p *process) setUp(ctx context.Context, s *settings, restConfig *rest.Config) error {
	shared := *s
	shared.leaderElect = false
	host, err := newManager(ctx, Options{
		Name:   p.name,
		Scheme: clientgoscheme.Scheme,
		Setup: func(_ context.Context, mgr ctrl.Manager, _ startup.Config) error {
			return mgr.AddReadyzCheck("services", p.ready)
		},
		Webhooks: func(ctrl.Manager, startup.Config) error { return nil },
	}, &shared, restConfig)
	p.host = host
	return err
}

// ready passes when all members can do their work that are not left out.
func (p *process) ready(request *http.Request) error {
	var problems []error
	for _, m := range p.members {
		if err := m.ready(request); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.operator.Name, err))
		}
	}
	return errors.Join(problems...)
}

// run runs everything until ctx ends or a part of it fails. The host ends last, because members
// that are stopping may still need their webhooks.
func (p *process) run(ctx context.Context) error {
	hostContext, endHost := context.WithCancel(context.WithoutCancel(ctx))
	defer endHost()
	ctx, end := context.WithCancel(ctx)
	defer end()
	hostEnded := make(chan error, 1)
	go func() { hostEnded <- p.host.Start(hostContext) }()

	failed := make(chan error, len(p.members))
	ended := make(chan struct{})
	var members sync.WaitGroup
	for _, m := range p.members {
		members.Go(func() {
			if err := m.run(ctx, p.host); err != nil {
				failed <- fmt.Errorf("run %s: %w", m.operator.Name, err)
			}
		})
	}
	go func() {
		members.Wait()
		close(ended)
	}()

	select {
	case <-ended:
	case err := <-failed:
		end()
		return errors.Join(err, await(ended))
	case err := <-hostEnded:
		end()
		return errors.Join(fmt.Errorf("run %s: %w", p.name, err), await(ended))
	}
	endHost()
	err := <-hostEnded
	select {
	case failure := <-failed:
		return errors.Join(failure, err)
	default:
		return err
	}
}

// await waits until members have ended, but not for longer than a lost Lease permits.
func await(ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case <-time.After(endTimeout):
		return fmt.Errorf("other operators have not stopped within %s", endTimeout)
	}
}
