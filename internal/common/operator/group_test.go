package operator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var pair = Group{Name: "pair-operator", Operators: []Options{{Name: "alpha-operator"}, {Name: "beta-operator"}}}

func TestAGroupRunsTheChosenOperatorsWithTheirLeases(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "group-system")
	cases := map[string]struct {
		args []string
		want map[string]string
	}{
		"by default all": {nil, map[string]string{"alpha": "group-system", "beta": "group-system"}},
		"one":            {[]string{"--services=beta"}, map[string]string{"beta": "group-system"}},
		"one has or had a program of its own": {
			[]string{"--lease-namespaces=alpha=alpha-system"}, map[string]string{"alpha": "alpha-system", "beta": "group-system"},
		},
		"both had one": {
			[]string{"--lease-namespaces=alpha=a,beta=b"}, map[string]string{"alpha": "a", "beta": "b"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, chosen, err := pair.parse(append(c.args, "--leader-elect"))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, one := range chosen {
				m := newMember(one, s, nil)
				got[one.service()] = managerOptions(m.operator, m.settings, nil).LeaderElectionNamespace
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Leases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlyTheProcessOfAGroupListens(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "group-system")
	s, chosen, err := pair.parse([]string{"--leader-elect", "--pprof-bind-address=localhost:6060"})
	if err != nil {
		t.Fatal(err)
	}
	m := newMember(chosen[0], s, nil)
	options := managerOptions(m.operator, m.settings, nil)
	for what, address := range map[string]string{
		"metrics": options.Metrics.BindAddress, "probes": options.HealthProbeBindAddress, "profiles": options.PprofBindAddress,
	} {
		if address != listenNowhere {
			t.Errorf("an operator of the group serves %s at %q", what, address)
		}
	}
	if s.pprofAddress != "localhost:6060" || s.probeAddress == listenNowhere {
		t.Error("the settings of the process have changed")
	}
}

func TestAGroupRefusesWhatCannotWork(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "group-system")
	for message, args := range map[string][]string{
		"--leader-elect is required":                                     nil,
		`no operator of "gamma", only of alpha, beta`:                    {"--leader-elect", "--services=alpha,gamma"},
		`the operator of "beta" is not among --services`:                 {"--leader-elect", "--services=alpha", "--lease-namespaces=beta=b"},
		`"alpha" is not the name of a service, an equals sign and the n`: {"--leader-elect", "--lease-namespaces=alpha"},
		`"alpha=A b" is not the name of a service`:                       {"--leader-elect", "--lease-namespaces=alpha=A b"},
	} {
		if _, _, err := pair.parse(args); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%v: error = %v, want one with %q", args, err, message)
		}
	}
	_, err := pair.parseServices([]string{"--services=alpha", "beta"})
	if err == nil || !strings.Contains(err.Error(), "takes only --services") {
		t.Errorf("error = %v", err)
	}
}
