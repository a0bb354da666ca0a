package fernet

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// rotate simulates "keystone-manage fernet_rotate" on the files of a key
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

// replica is an API pod: it receives a changed Secret after a delay, and a changed
// configuration when it is rolled.
type replica struct {
	keys    map[string][]byte
	pending []delivery
	// lifetime is the lifetime of its tokens until rolledAt; afterwards that of the
	// installation applies.
	lifetime time.Duration
	rolledAt time.Duration
}

type delivery struct {
	at   time.Duration
	keys map[string][]byte
}

// installation is a Keystone whose keys rotate. Times are relative to the start of
// the model.
type installation struct {
	*rand.Rand

	now        time.Duration
	production map[string][]byte
	history    History
	replicas   []*replica
	// staged is the result of the last Job, running that of the Job in progress.
	staged, running map[string][]byte
	runningUntil    time.Duration
	maxActive       int
	lifetime        time.Duration
	// propagation is the operator's setting, lag the maximum delay of the kubelets
	// in reality.
	propagation, lag time.Duration
	// needed maps each key to the time until which a token signed with it is valid.
	needed  map[string]time.Duration
	commits int
	serial  int
}

// skew is the maximum error of the operator's clock.
const skew = 15 * time.Second

func (i *installation) between(low, high time.Duration) time.Duration {
	return low + time.Duration(i.Int64N(int64(high-low)))
}

func (i *installation) fresh() []byte {
	i.serial++
	return fmt.Appendf(nil, "key %d", i.serial)
}

func newInstallation(seed uint64) *installation {
	i := &installation{Rand: rand.New(rand.NewPCG(seed, 1)), maxActive: 3, lifetime: time.Hour, needed: map[string]time.Duration{}}
	i.propagation = i.between(time.Minute, 6*time.Minute)
	i.lag = i.propagation - 2*skew
	i.production = map[string][]byte{"0": i.fresh(), "1": i.fresh(), "2": i.fresh()}
	i.history = NewHistory(i.production, i.clock(), i.lifetime)
	for range 3 {
		i.replicas = append(i.replicas, &replica{keys: i.production, lifetime: i.lifetime})
	}
	return i
}

// clock returns the current time by the clock of the operator, which may have moved
// to another node.
func (i *installation) clock() time.Time {
	return modelStart.Add(i.now + i.between(-skew, skew))
}

// modelStart is the time at which the model starts.
var modelStart = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// use returns what the operator knows about the pods and their configuration.
func (i *installation) use() Use {
	mixed := slices.ContainsFunc(i.replicas, func(r *replica) bool { return i.now < r.rolledAt })
	return Use{Lifetime: i.lifetime, Mixed: mixed, Propagation: i.propagation}
}

// pass simulates one pass of the operator.
func (i *installation) pass() {
	now := i.clock()
	i.history = ParseHistory(i.history.String()).Observe(i.production, now, i.use())
	if i.staged == nil {
		return
	}
	if ValidateSuccessor(i.production, i.staged) != nil {
		i.staged = nil
		return
	}
	if now.Before(i.history.SafeAt(i.production, i.staged, i.use())) {
		return
	}
	i.commit(now, i.use())
}

func (i *installation) commit(now time.Time, use Use) {
	i.production, i.staged = i.staged, nil
	i.history = i.history.Observe(i.production, now, use)
	i.commits++
	for _, replica := range i.replicas {
		replica.pending = append(replica.pending, delivery{at: i.now + i.between(0, i.lag), keys: i.production})
	}
}

// configure changes the lifetime of tokens. A rollout may take hours, for example
// if a pod does not become ready, and the operator sees the changed spec before the
// pods do.
func (i *installation) configure() {
	for _, replica := range i.replicas {
		if i.now >= replica.rolledAt {
			replica.lifetime = i.lifetime
		}
		replica.rolledAt = i.now + i.between(time.Minute, 12*time.Hour)
	}
	i.lifetime = i.between(time.Minute, 6*time.Hour)
	i.pass()
}

// step advances the time and performs the actions that are due.
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
		i.configure()
	case 4, 5, 6, 7, 8:
		i.pass()
	}
	i.issue()
}

// issue issues a token from each replica.
func (i *installation) issue() {
	for _, replica := range i.replicas {
		primary, _ := PrimaryName(replica.keys)
		key := string(replica.keys[primary])
		lifetime := i.lifetime
		if i.now < replica.rolledAt {
			lifetime = replica.lifetime
		}
		i.needed[key] = max(i.needed[key], i.now+lifetime)
	}
}

// deadTokens describes a valid token that a replica rejects, or returns "".
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

func TestTokensStayValidUntilExpiryForAnySequenceOfRotations(t *testing.T) {
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
	safe := func(i *installation, change func(*Use)) time.Time {
		use := i.use()
		change(&use)
		return i.history.SafeAt(i.production, i.staged, use)
	}
	for name, safeAt := range map[string]func(i *installation) time.Time{
		"at once":                 func(*installation) time.Time { return time.Time{} },
		"without the lag of pods": func(i *installation) time.Time { return safe(i, func(u *Use) { u.Propagation = 0 }) },
		"before the last lifetime": func(i *installation) time.Time {
			return i.history.PropagatedAt(i.production, i.propagation)
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectDeadTokens(t, func(*installation) {}, func(i *installation) {
				if i.staged != nil && ValidateSuccessor(i.production, i.staged) == nil && !i.clock().Before(safeAt(i)) {
					i.commit(i.clock(), i.use())
				}
			})
		})
	}
}

func TestTheModelNoticesKubeletsThatAreSlowerThanConfigured(t *testing.T) {
	expectDeadTokens(t, func(i *installation) { i.lag = i.between(2*i.propagation, 10*i.propagation) }, func(*installation) {})
}

func TestTheModelNoticesPodsWithAnEarlierConfiguration(t *testing.T) {
	expectDeadTokens(t, func(*installation) {}, func(i *installation) {
		use := i.use()
		use.Mixed = false
		if i.staged != nil && ValidateSuccessor(i.production, i.staged) == nil &&
			!i.clock().Before(i.history.SafeAt(i.production, i.staged, use)) {
			i.commit(i.clock(), use)
		}
	})
}

// expectDeadTokens runs installations, modified by begin at the start and by each
// before every step, until one rejects a valid token.
func expectDeadTokens(t *testing.T, begin, each func(*installation)) {
	t.Helper()
	for seed := range uint64(60) {
		i := newInstallation(seed)
		begin(i)
		for range 1000 {
			i.step()
			each(i)
			if i.deadTokens() != "" {
				return
			}
		}
	}
	t.Error("no token died in the model")
}

func TestAHeldRotationIsAppliedInTheEnd(t *testing.T) {
	for seed := range uint64(50) {
		i := newInstallation(seed)
		for range 300 {
			i.step()
		}
		i.running, i.staged = nil, rotate(i.production, i.maxActive, i.fresh())
		before := i.commits
		// Every key is out of use after the longest lifetime.
		i.now += 12*time.Hour + 6*time.Hour + 2*i.propagation
		i.pass()
		if i.commits != before+1 {
			t.Fatalf("seed %d: the rotation is still held: safe at %s, now %s", seed,
				i.history.SafeAt(i.production, i.staged, i.use()), modelStart.Add(i.now))
		}
	}
}
