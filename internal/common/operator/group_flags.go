package operator

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// choice is an operator that a process is to run, and the namespace of its Lease, "" for that of
// the process.
type choice struct {
	Options
	leaseIn string
}

type choices []choice

func (c choices) operators() []Options {
	operators := make([]Options, len(c))
	for i, one := range c {
		operators[i] = one.Options
	}
	return operators
}

// service returns the name by which the flags of a group call an operator.
func (o Options) service() string { return strings.TrimSuffix(o.Name, "-operator") }

// groupFlags are the flags that only a group has.
type groupFlags struct {
	services  names
	leasesIn  leaseNamespaces
	available []string
}

func (g Group) flags() *groupFlags {
	f := &groupFlags{leasesIn: leaseNamespaces{}}
	for _, o := range g.Operators {
		f.available = append(f.available, o.service())
	}
	f.services = f.available
	return f
}

func (f *groupFlags) bind(fs *flag.FlagSet) {
	fs.Var(&f.services, "services", "The services to run the operators of, separated by commas.")
}

func (f *groupFlags) bindLeases(fs *flag.FlagSet) {
	fs.Var(f.leasesIn, "lease-namespaces",
		"Where the Leases of operators are that run or ran as programs of their own in other namespaces, such as "+
			"keystone=keystone-system, separated by commas. The other Leases are in the namespace of this program.")
}

// choose returns the operators that the flags select.
func (g Group) choose(f *groupFlags) (choices, error) {
	var problems []error
	for _, name := range f.services {
		if !slices.Contains(f.available, name) {
			problems = append(problems, fmt.Errorf("--services: there is no operator of %q, only of %s", name, strings.Join(f.available, ", ")))
		}
	}
	for name := range f.leasesIn {
		if !slices.Contains(f.services, name) {
			problems = append(problems, fmt.Errorf("--lease-namespaces: the operator of %q is not among --services", name))
		}
	}
	var chosen choices
	for _, o := range g.Operators {
		if slices.Contains(f.services, o.service()) {
			chosen = append(chosen, choice{Options: o, leaseIn: f.leasesIn[o.service()]})
		}
	}
	return chosen, errors.Join(problems...)
}

// parse parses the command line of the program.
func (g Group) parse(args []string) (*settings, choices, error) {
	f := g.flags()
	s, err := parse(args, func(fs *flag.FlagSet) {
		f.bind(fs)
		f.bindLeases(fs)
		for _, o := range g.Operators {
			if o.Flags != nil {
				o.Flags(fs)
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if !s.leaderElect {
		return nil, nil, errors.New("--leader-elect is required: only the Leases keep out the operators' own programs")
	}
	chosen, err := g.choose(f)
	return s, chosen, err
}

// parseServices parses the arguments that follow [ApplyDefinitions].
func (g Group) parseServices(args []string) (choices, error) {
	f := g.flags()
	fs := flag.NewFlagSet(ApplyDefinitions, flag.ContinueOnError)
	f.bind(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: %s takes only --services", fs.Arg(0), ApplyDefinitions)
	}
	return g.choose(f)
}

// names is a flag with a list of names.
type names []string

// String returns the names in the format of the flag.
func (n *names) String() string { return strings.Join(*n, ",") }

// Set replaces the names.
func (n *names) Set(text string) error {
	*n = strings.Split(text, ",")
	return nil
}

// leaseNamespaces is a flag with a namespace for each of some operators.
type leaseNamespaces map[string]string

// String returns the namespaces in the format of the flag.
func (l leaseNamespaces) String() string {
	parts := make([]string, 0, len(l))
	for name, namespace := range l {
		parts = append(parts, name+"="+namespace)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// Set adds the namespaces.
func (l leaseNamespaces) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, namespace, found := strings.Cut(part, "=")
		if !found || len(validation.IsDNS1123Label(namespace)) > 0 {
			return fmt.Errorf("%q is not the name of a service, an equals sign and the name of a namespace", part)
		}
		l[name] = namespace
	}
	return nil
}
