package keys

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// rotate does what "keystone-manage fernet_rotate" does to the files of a key
// repository.
func rotate(current map[string][]byte, maxActive int, fresh []byte) map[string][]byte {
	next := maps.Clone(current)
	numbers := make([]int, 0, len(next))
	for name := range next {
		number, _ := strconv.Atoi(name)
		numbers = append(numbers, number)
	}
	promoted := slices.Max(numbers) + 1
	next[strconv.Itoa(promoted)] = next["0"]
	delete(next, "0")
	numbers = slices.DeleteFunc(append(numbers, promoted), func(n int) bool { return n == 0 })
	slices.Sort(numbers)
	for len(numbers) > maxActive-1 {
		delete(next, strconv.Itoa(numbers[0]))
		numbers = numbers[1:]
	}
	next["0"] = fresh
	return next
}

// replica is an API pod: it sees a changed Secret some time later.
type replica struct {
	keys    map[string][]byte
	pending []delivery
}

type delivery struct {
	at   time.Duration
	keys map[string][]byte
}

// installation is a Keystone whose keys rotate. Times are since the beginning.
type installation struct {
	*rand.Rand

	now        time.Duration
	production map[string][]byte
	history    History
	replicas   []*replica
	// staged is what the last Job left, running the one under way.
	staged, running map[string][]byte
	runningUntil    time.Duration
	maxActive       int
	lifetime        time.Duration
	// needed is until when a token of a key is valid, by the key.
	needed  map[string]time.Duration
	commits int
	serial  int
}

// lag is the longest time the kubelets of the model take, skew the furthest the
// operator's clock is off.
const (
	lag  = 90 * time.Second
	skew = 15 * time.Second
)

func (i *installation) between(low, high time.Duration) time.Duration {
	return low + time.Duration(i.Int64N(int64(high-low)))
}

func (i *installation) fresh() []byte {
	i.serial++
	return fmt.Appendf(nil, "key %d", i.serial)
}

func newInstallation(seed uint64) *installation {
	i := &installation{Rand: rand.New(rand.NewPCG(seed, 1)), maxActive: 3, lifetime: time.Hour, needed: map[string]time.Duration{}}
	i.production = map[string][]byte{"0": i.fresh(), "1": i.fresh(), "2": i.fresh()}
	i.history = NewHistory(i.production, i.clock(), i.lifetime)
	for range 3 {
		i.replicas = append(i.replicas, &replica{keys: i.production})
	}
	return i
}

// clock is what the operator, which may move to another node, takes for now.
func (i *installation) clock() time.Time {
	return modelStart.Add(i.now + i.between(-skew, skew))
}

// modelStart is what the times of the model count from.
var modelStart = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// pass is what the operator does in one pass.
func (i *installation) pass() {
	now := i.clock()
	i.history = ParseHistory(i.history.String()).Observe(i.production, now, i.lifetime)
	if i.staged == nil {
		return
	}
	if ValidateSuccessor(i.production, i.staged) != nil {
		i.staged = nil
		return
	}
	if now.Before(i.history.SafeAt(i.production, i.staged, i.lifetime)) {
		return
	}
	i.production, i.staged = i.staged, nil
	i.history = i.history.Observe(i.production, now, i.lifetime)
	i.commits++
	for _, replica := range i.replicas {
		replica.pending = append(replica.pending, delivery{at: i.now + i.between(0, lag), keys: i.production})
	}
}

// step lets some time pass, and what is due happen.
func (i *installation) step() {
	i.now += i.between(time.Second, 2*time.Minute)
	if i.IntN(12) == 0 {
		i.now += i.between(0, time.Hour) // the operator is down, runs are missed
	}
	for _, replica := range i.replicas {
		for len(replica.pending) > 0 && replica.pending[0].at <= i.now {
			replica.keys, replica.pending = replica.pending[0].keys, replica.pending[1:]
		}
	}
	if i.running != nil && i.now >= i.runningUntil {
		i.staged, i.running = i.running, nil
	}
	switch i.IntN(12) {
	case 0, 1: // a Job starts with the keys of this moment and stages later
		i.running, i.runningUntil = rotate(i.production, i.maxActive, i.fresh()), i.now+i.between(0, 10*time.Minute)
	case 2:
		i.maxActive = 3 + i.IntN(4)
	case 3:
		i.lifetime = i.between(time.Minute, 6*time.Hour)
		i.pass() // the operator sees a changed spec before the pods do
	case 4, 5, 6, 7, 8:
		i.pass()
	}
	i.issue()
}

// issue lets each replica issue a token.
func (i *installation) issue() {
	for _, replica := range i.replicas {
		primary, _ := PrimaryName(replica.keys)
		key := string(replica.keys[primary])
		i.needed[key] = max(i.needed[key], i.now+i.lifetime)
	}
}

// deadTokens describes a valid token that a replica refuses, "" when there is
// none.
func (i *installation) deadTokens() string {
	for number, replica := range i.replicas {
		for key, until := range i.needed {
			has := slices.ContainsFunc(slices.Collect(maps.Values(replica.keys)), func(k []byte) bool { return string(k) == key })
			if until <= i.now {
				delete(i.needed, key)
				continue
			}
			if !has {
				return fmt.Sprintf("after %s pod %d refuses a token of %q that is valid until %s", i.now, number, key, until)
			}
		}
	}
	return ""
}

func TestATokenIsValidUntilItsEndWhateverTheRotationsAre(t *testing.T) {
	commits := 0
	for seed := range uint64(60) {
		i := newInstallation(seed)
		for range 1000 {
			i.step()
			if dead := i.deadTokens(); dead != "" {
				t.Fatalf("seed %d, after %d rotations: %s", seed, i.commits, dead)
			}
		}
		commits += i.commits
	}
	if commits < 500 {
		t.Errorf("only %d rotations in all runs: the model shows nothing", commits)
	}
}

func TestTheModelNoticesARotationThatIsAppliedTooEarly(t *testing.T) {
	for name, safeAt := range map[string]func(i *installation) time.Time{
		"at once": func(*installation) time.Time { return time.Time{} },
		"without the lag of pods": func(i *installation) time.Time {
			return i.history.SafeAt(i.production, i.staged, i.lifetime).Add(-Propagation)
		},
		"before the last lifetime": func(i *installation) time.Time { return i.history.PropagatedAt(i.production) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				i := newInstallation(seed)
				for range 1000 {
					i.step()
					if i.staged != nil && ValidateSuccessor(i.production, i.staged) == nil && !i.clock().Before(safeAt(i)) {
						i.production, i.staged = i.staged, nil
						i.history = i.history.Observe(i.production, i.clock(), i.lifetime)
						for _, replica := range i.replicas {
							replica.pending = append(replica.pending, delivery{at: i.now + i.between(0, lag), keys: i.production})
						}
					}
					if i.deadTokens() != "" {
						return
					}
				}
			}
			t.Error("no token died in the model")
		})
	}
}

func TestAHeldRotationIsAppliedInTheEnd(t *testing.T) {
	for seed := range uint64(50) {
		i := newInstallation(seed)
		for range 300 {
			i.step()
		}
		i.running, i.staged = nil, rotate(i.production, i.maxActive, i.fresh())
		before := i.commits
		// What was in use longest is out of use after the longest lifetime.
		i.now += 6*time.Hour + 2*Propagation
		i.pass()
		if i.commits != before+1 {
			t.Fatalf("seed %d: the rotation is still held: safe at %s, now %s", seed,
				i.history.SafeAt(i.production, i.staged, i.lifetime), modelStart.Add(i.now))
		}
	}
}
