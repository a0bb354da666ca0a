package pass

import (
	"testing"
	"time"

	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestAFailedKORCObjectIsRetriedWithBackoff(t *testing.T) {
	for name, c := range map[string]struct{ failing, gaveUp, want time.Duration }{
		"just now":                      {0, 0, 30 * time.Second},
		"a while ago":                   {20 * time.Second, 20 * time.Second, 10 * time.Second},
		"long enough ago":               {30 * time.Second, 30 * time.Second, 0},
		"again, after ten minutes":      {10 * time.Minute, time.Minute, 4 * time.Minute},
		"again, after a day":            {fixture.Day, time.Minute, 9 * time.Minute},
		"by a clock that has been back": {-time.Hour, 0, 30 * time.Second},
	} {
		tools := &Tools{Access: kube.Access{Clock: func() time.Time { return fixture.Noon }}, RetryPeriod: DefaultRetryPeriod}
		s := New(tools, &c5c3v1alpha1.ControlPlane{})
		if got := RetryAfter(s, fixture.Noon.Add(-c.gaveUp), fixture.Noon.Add(-c.failing)); got != c.want {
			t.Errorf("%s: got %s, expected %s", name, got, c.want)
		}
	}
}
