package fernet

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Use is how the keys of a set are used.
type Use struct {
	// Lifetime is how long data made with a key stays in use under the current
	// configuration.
	Lifetime time.Duration
	// Mixed is set if there are also pods with an earlier configuration. Their data
	// may live as long as the Lifetime at the time when the current key became the
	// primary one.
	Mixed bool
	// Propagation is the maximum time until a changed Secret has reached all
	// pods that mount it.
	Propagation time.Duration
}

// during returns the Use with the longest Lifetime that any pod may be configured
// with.
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

// Tenure is the period in which a key was the primary one. The zero Tenure means
// that it never was.
type Tenure struct {
	// Since is when it became the primary key; zero if unknown.
	Since time.Time `json:"since,omitzero"`
	// Until is when another key replaced it; zero while it is the primary key.
	Until time.Time `json:"until,omitzero"`
	// Lifetime is the maximum time, in seconds, for which data made with the key
	// stays in use.
	Lifetime int64 `json:"lifetime,omitempty"`
	// Migrated is set if everything encrypted with older keys has been
	// re-encrypted with this key since it became the primary one.
	Migrated bool `json:"migrated,omitempty"`
}

// History holds the Tenure of each key of a set by its ID. It is stored next to the
// keys and contains no secret.
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

// String returns the History as JSON, with the same text for equal Histories.
func (h History) String() string {
	encoded, err := json.Marshal(h)
	if err != nil {
		return "{}" // every part of a Tenure can be encoded
	}
	return string(encoded)
}

// NewHistory returns the History of a newly generated set: only its primary key can be
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

// Observe updates the History for the keys that are in use now and for how they are
// used. An unknown key other than the staged one may have been the primary key
// until now.
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

// open returns the Tenure of a primary key.
func (t Tenure) open(now time.Time, use Use) Tenure {
	if t.Since.IsZero() || !t.Until.IsZero() {
		t = Tenure{Since: stamp(now), Lifetime: t.Lifetime}
	}
	t = t.bounded(now, use)
	// A shorter lifetime does not shorten that of existing data.
	t.Lifetime = max(t.Lifetime, seconds(use.Lifetime))
	return t
}

// close returns the Tenure of a key that is not the primary one. Pods that do not have
// its successor yet still use it, with their current lifetime.
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

// bounded corrects times in the future, left by a clock that ran ahead, because they
// would hold rotations until they have passed, possibly for years. It does so only
// for keys whose data does not expire: there, only the propagation time is at
// stake. For other keys, such a time cannot be distinguished from a clock that
// is behind now, and tokens could be invalidated early.
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

// Rotated reports whether a key other than the primary one was ever in use.
func (h History) Rotated() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(h)), func(t Tenure) bool { return !t.Until.IsZero() })
}

// Primary returns the Tenure of the primary key of data.
func (h History) Primary(data map[string][]byte) Tenure {
	name, _ := PrimaryName(data)
	return h[ID(data[name])]
}

// Migrated returns the History with the primary key of data marked as the only one
// that data is encrypted with.
func (h History) Migrated(data map[string][]byte) History {
	migrated := maps.Clone(h)
	name, _ := PrimaryName(data)
	tenure := migrated[ID(data[name])]
	tenure.Migrated = true
	migrated[ID(data[name])] = tenure
	return migrated
}

// PropagatedAt returns when the keys in use have reached all pods. It returns the
// zero time if every pod has had them since its start.
func (h History) PropagatedAt(data map[string][]byte, propagation time.Duration) time.Time {
	if !h.Rotated() {
		return time.Time{}
	}
	return h.Primary(data).Since.Add(propagation)
}

// SafeAt returns the earliest time at which next may replace current without
// invalidating data that was made with a key of current. It returns the zero time
// if that is safe already. next must be a successor of current.
//
// Two conditions must hold. The key that next promotes was staged by the previous
// rotation and must have reached every pod. And a key that next removes may have
// been used until the pods received the set that replaced it; the last data made
// with it must have expired.
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

// stamp rounds up, so that no event is recorded too early.
func stamp(now time.Time) time.Time {
	return now.UTC().Add(time.Second - 1).Truncate(time.Second)
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
