package deployment

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheCommandLineFollowsTheUWSGIBlock(t *testing.T) {
	for name, test := range map[string]struct {
		spec   *commonv1.UWSGISpec
		has    []string
		hasNot []string
	}{
		"absent": {nil, []string{"--http-keepalive", "--processes 2", "--threads 1"}, []string{"--harakiri"}},
		"no keep-alive": {
			&commonv1.UWSGISpec{Processes: 3, Threads: 3, HTTPKeepAlive: new(false)},
			[]string{"--processes 3", "--threads 3"},
			[]string{"--http-keepalive"},
		},
		"a timeout": {
			&commonv1.UWSGISpec{Processes: 1, Threads: 1, HTTPKeepAliveTimeout: ptr.To(int32(5)), Harakiri: ptr.To(int32(9))},
			[]string{"--http-keepalive=5", "--harakiri 9"},
			[]string{"--http-keepalive-timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := strings.Join(UWSGI{Port: 5000, File: "app.py"}.Command(test.spec), " ")
			for _, want := range test.has {
				if !strings.Contains(line, want) {
					t.Errorf("%q lacks %q", line, want)
				}
			}
			for _, unwanted := range test.hasNot {
				if strings.Contains(line, unwanted) {
					t.Errorf("%q has %q", line, unwanted)
				}
			}
		})
	}
}

func TestTheAPIListensOnIPv6InAnIPv6Cluster(t *testing.T) {
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	for _, test := range []struct {
		families []corev1.IPFamily
		want     string
	}{
		{nil, ":7000"},
		{[]corev1.IPFamily{corev1.IPv4Protocol}, ":7000"},
		{[]corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol}, ":7000"},
		{[]corev1.IPFamily{corev1.IPv6Protocol}, "[::]:7000"},
	} {
		command := API[*service.Pass]{}.Deployment(p, test.families...).Spec.Template.Spec.Containers[0].Command
		if got := command[slices.Index(command, "--http")+1]; got != test.want {
			t.Errorf("with %v it listens on %q, want %q", test.families, got, test.want)
		}
	}
}

func TestTheDisruptionBudgetDependsOnTheReplicaCount(t *testing.T) {
	several, one := Instance{}.DisruptionBudget(2), Instance{}.DisruptionBudget(1)
	if several.Spec.MinAvailable == nil || several.Spec.MaxUnavailable != nil {
		t.Errorf("budget for two replicas: %+v, want minAvailable", several.Spec)
	}
	if one.Spec.MaxUnavailable == nil || one.Spec.MinAvailable != nil {
		t.Errorf("budget for one replica: %+v, want maxUnavailable", one.Spec)
	}
}

// The scheduler ignores the constraints of a pod on a node that lacks the label of one of them.
func TestPodsSpreadOverNodesThatHaveNoZone(t *testing.T) {
	i := Instance{Selector: map[string]string{"app": "thing"}}
	apart := i.Affinity(nil).PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(apart) != 1 || apart[0].PodAffinityTerm.TopologyKey != corev1.LabelHostname {
		t.Fatalf("default affinity %v, want one term on nodes", apart)
	}
	if diff := cmp.Diff(i.Selector, apart[0].PodAffinityTerm.LabelSelector.MatchLabels); diff != "" {
		t.Errorf("pods keep apart from others than their own (-want +got):\n%s", diff)
	}
}

func TestTheSpecCanReplaceSpreadAndStrategy(t *testing.T) {
	i := Instance{Selector: map[string]string{"app": "thing"}}
	if got := i.SpreadConstraints(nil); len(got) != 2 || got[0].TopologyKey != corev1.LabelTopologyZone {
		t.Errorf("default spread constraints %v, want zone and host name", got)
	}
	if got := i.SpreadConstraints([]corev1.TopologySpreadConstraint{}); len(got) != 0 {
		t.Errorf("spread constraints %v although the spec asks for none", got)
	}
	if got := i.Affinity([]corev1.TopologySpreadConstraint{}); got != nil {
		t.Errorf("affinity %v although the spec asks for no spreading", got)
	}
	recreate := &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	if got := RolloutStrategy(recreate); got.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("strategy %v, want the one of the spec", got)
	}
}
