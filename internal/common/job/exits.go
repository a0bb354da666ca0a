package job

import "k8s.io/utils/lru"

// exitsKept is the capacity of an Exits. Each Job needs its entry for about two seconds.
const exitsKept = 10_000

// Exits remembers Jobs whose container succeeded before the Job's status shows it, which
// takes the kubelet and the Job controller about two seconds. A first installation waits
// for several Jobs in sequence. A cache that excludes succeeded Pods shows the exit of
// the container only for a moment.
type Exits struct{ seen *lru.Cache }

// NewExits returns an Exits for all Runners of an operator.
func NewExits() *Exits { return &Exits{seen: lru.New(exitsKept)} }
