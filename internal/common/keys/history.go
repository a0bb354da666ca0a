package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Use is how the keys of a set are used.
type Use struct {
	// Lifetime is how long what is made with a key stays in use, as far as the
	// configuration of now tells.
	Lifetime time.Duration
	// Mixed tells that there are pods with an earlier configuration, too. What
	// they make may live as long as it did when the key in use became that.
	Mixed bool
	// Propagation is how long it takes at most until a changed Secret is in all
	// pods that mount it.
	Propagation time.Duration
}

// during is the Use with the longest Lifetime that any pod may go by.
func (u Use) during(h History) Use {
	if u.Mixed {
		for _, tenure := range h {
			if tenure.Until.IsZero() {
				u.Lifetime = max(u.Lifetime, time.Duration(tenure.Lifetime)*time.Second)
			}
		}
	}
	return u
}

// ID names a key without telling anything about it: 12 hexadecimal digits of a
// SHA-256, which for a key of 256 random bits cannot be reversed or tried out.
func ID(key []byte) string {
	sum := sha256.Sum256(append([]byte("forge.c5c3.io/key-id:"), key...))
	return hex.EncodeToString(sum[:6])
}

// Tenure is the time for which a key was the primary one. The zero Tenure is that
// of a key that never was.
type Tenure struct {
	// Since is when it became the primary key, zero when that is not known.
	Since time.Time `json:"since,omitzero"`
	// Until is when another key took over, zero while it is the primary one.
	Until time.Time `json:"until,omitzero"`
	// Lifetime is how long, in seconds, what was made with the key at most
	// stays in use.
	Lifetime int64 `json:"lifetime,omitempty"`
	// Migrated tells that everything that older keys encrypted has been
	// encrypted with this key since it became the primary one.
	Migrated bool `json:"migrated,omitempty"`
}

// History knows the Tenure of each key of a set by its ID. It is kept beside the
// keys and holds no secret.
type History map[string]Tenure

// ParseHistory reads what String wrote. Anything else gives an empty History,
// which Observe fills with the most cautious assumptions.
func ParseHistory(text string) History {
	history := History{}
	if err := json.Unmarshal([]byte(text), &history); err != nil {
		return History{}
	}
	return history
}

// String is the History in JSON, the same text for the same History.
func (h History) String() string {
	encoded, err := json.Marshal(h)
	if err != nil {
		return "{}" // no Tenure has a part that cannot be encoded
	}
	return string(encoded)
}

// NewHistory is that of a set which was just made: only its primary key can be
// in use, from now on.
func NewHistory(data map[string][]byte, now time.Time, lifetime time.Duration) History {
	history := History{}
	primary, _ := PrimaryName(data)
	for name, key := range data {
		history[ID(key)] = Tenure{}
		if name == primary {
			history[ID(key)] = Tenure{Since: stamp(now), Lifetime: seconds(lifetime)}
		}
	}
	return history
}

// Observe brings the History up to date with the keys that are in use now, and
// with how they are used. A key of which it knows nothing
// may have been the primary one until this moment, unless it is the staged one.
func (h History) Observe(data map[string][]byte, now time.Time, use Use) History {
	seen := History{}
	use = use.during(h)
	primary, _ := PrimaryName(data)
	for name, key := range data {
		tenure, known := h[ID(key)]
		switch {
		case name == primary:
			tenure = tenure.open(now, use)
		case known:
			tenure = tenure.close(now, use)
		case name != StagedName:
			tenure = Tenure{Until: stamp(now), Lifetime: seconds(use.Lifetime)}
		}
		seen[ID(key)] = tenure
	}
	return seen
}

// open is the Tenure of a primary key.
func (t Tenure) open(now time.Time, use Use) Tenure {
	if t.Since.IsZero() || !t.Until.IsZero() {
		t = Tenure{Since: stamp(now), Lifetime: t.Lifetime}
	}
	t = t.bounded(now, use)
	// A shorter lifetime does not shorten that of what exists already.
	t.Lifetime = max(t.Lifetime, seconds(use.Lifetime))
	return t
}

// close is the Tenure of a key that is not the primary one. Pods that do not have
// its successor yet still use it, with the lifetime of that moment.
func (t Tenure) close(now time.Time, use Use) Tenure {
	if !t.Since.IsZero() && t.Until.IsZero() {
		t.Until = stamp(now)
	}
	t = t.bounded(now, use)
	if now.Before(t.Until.Add(use.Propagation)) {
		t.Lifetime = max(t.Lifetime, seconds(use.Lifetime))
	}
	return t
}

// bounded takes back times that a clock which ran ahead has left, because they
// would hold rotations until they have passed, for years maybe. It does so only
// where nothing made with a key runs out: what is at stake then is the time of
// the propagation. Elsewhere such a time cannot be told from a clock that
// is behind now, and tokens could die early.
func (t Tenure) bounded(now time.Time, use Use) Tenure {
	if t.Lifetime > 0 || use.Lifetime > 0 {
		return t
	}
	latest := now.Add(use.Propagation)
	if t.Since.After(latest) {
		t.Since = stamp(now)
	}
	if t.Until.After(latest) {
		t.Until = stamp(now)
	}
	return t
}

// Rotated reports whether another key than the primary one was in use.
func (h History) Rotated() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(h)), func(t Tenure) bool { return !t.Until.IsZero() })
}

// Primary returns the Tenure of the primary key of data.
func (h History) Primary(data map[string][]byte) Tenure {
	name, _ := PrimaryName(data)
	return h[ID(data[name])]
}

// Migrated returns the History with the primary key of data marked as that of
// everything that is encrypted.
func (h History) Migrated(data map[string][]byte) History {
	migrated := maps.Clone(h)
	name, _ := PrimaryName(data)
	tenure := migrated[ID(data[name])]
	tenure.Migrated = true
	migrated[ID(data[name])] = tenure
	return migrated
}

// PropagatedAt returns when the keys in use are in all pods, the zero time when
// they have been since the first pod started.
func (h History) PropagatedAt(data map[string][]byte, propagation time.Duration) time.Time {
	if !h.Rotated() {
		return time.Time{}
	}
	return h.Primary(data).Since.Add(propagation)
}

// SafeAt returns the moment from which on next may replace current without
// anything that was made with a key of current losing its key, the zero time
// when it may at once. next must be a successor of current.
//
// Two things take time. The key that next promotes was staged by the rotation
// before, and has to be in every pod. And a key that next leaves out may have
// been used by a pod until the pods had the set that replaced it, after which
// the last thing made with it lives for its lifetime.
func (h History) SafeAt(current, next map[string][]byte, use Use) time.Time {
	safe := h.PropagatedAt(current, use.Propagation)
	kept := map[string]bool{}
	for _, key := range next {
		kept[ID(key)] = true
	}
	for _, key := range current {
		tenure := h[ID(key)]
		if kept[ID(key)] || tenure.Until.IsZero() {
			continue
		}
		last := tenure.Until.Add(use.Propagation + max(time.Duration(tenure.Lifetime)*time.Second, use.Lifetime))
		if last.After(safe) {
			safe = last
		}
	}
	return safe
}

// stamp rounds up, so that nothing seems to have happened before it did.
func stamp(now time.Time) time.Time {
	return now.UTC().Add(time.Second - 1).Truncate(time.Second)
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
