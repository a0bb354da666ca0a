package types

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestAManagedCacheIsFoundWithAnySearchDomains(t *testing.T) {
	in := cluster.Settings{Domain: "example.local"}
	for _, c := range []struct {
		cache CacheSpec
		want  []string
	}{
		{CacheSpec{ClusterRef: &corev1.LocalObjectReference{Name: "memcached"}}, []string{"memcached.openstack.svc.example.local:11211"}},
		{CacheSpec{Servers: []string{"one:11211", "two"}}, []string{"one:11211", "two"}},
	} {
		if got := c.cache.Addresses(in, "openstack"); !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
