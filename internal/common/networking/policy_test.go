package networking

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestCachePortsAreDistinctAndInOrder(t *testing.T) {
	cache := commonv1.CacheSpec{Servers: []string{"a:11212", "b", "c:11212", "inet6:[::1]:11300"}}
	if diff := cmp.Diff([]int32{11212, 11211, 11300}, cachePorts(cache)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}
