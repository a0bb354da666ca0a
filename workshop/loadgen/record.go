package main

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// maxErrors is the number of failures that are reported in full.
const maxErrors = 5

// recorder counts the results of the requests.
type recorder struct {
	mu        sync.Mutex
	started   time.Time
	latencies map[string][]time.Duration
	failures  map[string]map[string]int
	errors    []string
	// firstFailed and lastFailed are when the first and the last request that failed were sent.
	firstFailed, lastFailed time.Time
}

func newRecorder(now time.Time) *recorder {
	return &recorder{started: now, latencies: map[string][]time.Duration{}, failures: map[string]map[string]int{}}
}

// add records one request with its start and duration.
func (r *recorder) add(kind string, sent time.Time, took time.Duration, reused bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latencies[kind] = append(r.latencies[kind], took)
	if err == nil {
		return
	}
	if r.failures[kind] == nil {
		r.failures[kind] = map[string]int{}
	}
	r.failures[kind][classify(err)]++
	if r.firstFailed.IsZero() || sent.Before(r.firstFailed) {
		r.firstFailed = sent
	}
	if sent.After(r.lastFailed) {
		r.lastFailed = sent
	}
	if len(r.errors) < maxErrors {
		connection := "fresh"
		if reused {
			connection = "kept"
		}
		r.errors = append(r.errors, fmt.Sprintf("%s %s on a %s connection: %v",
			sent.UTC().Format("15:04:05.000"), kind, connection, err))
	}
}

// result summarises a run. It fits into a termination message.
type result struct {
	Seconds   float64 `json:"seconds"`
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"perSecond"`
	Failures  int     `json:"failures"`
	// FailingSeconds are between the sending of the first and of the last request that failed.
	FailingSeconds float64           `json:"failingSeconds"`
	Kinds          map[string]counts `json:"kinds"`
	// Connections is the number of keep-alive connections that were opened.
	Connections int `json:"keptConnections"`
	// Errors are the first failures in full.
	Errors []string `json:"errors,omitempty"`
}

// counts are the figures of one kind of request. Latencies are in
// milliseconds and include failed requests.
type counts struct {
	Requests int            `json:"requests"`
	Failures map[string]int `json:"failures,omitempty"`
	P50      float64        `json:"p50Ms"`
	P95      float64        `json:"p95Ms"`
	P99      float64        `json:"p99Ms"`
	Max      float64        `json:"maxMs"`
}

func countsOf(latencies []time.Duration, failures map[string]int) counts {
	sorted := slices.Sorted(slices.Values(latencies))
	return counts{
		Requests: len(sorted), Failures: failures,
		P50: percentile(sorted, 50), P95: percentile(sorted, 95), P99: percentile(sorted, 99), Max: percentile(sorted, 100),
	}
}

func (r *recorder) result(now time.Time, connections int) result {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := result{
		Seconds: math.Round(now.Sub(r.started).Seconds()*10) / 10, Kinds: map[string]counts{},
		Connections: connections, Errors: slices.Clone(r.errors),
	}
	sum.FailingSeconds = math.Round(r.lastFailed.Sub(r.firstFailed).Seconds()*10) / 10
	for kind, latencies := range r.latencies {
		sum.Kinds[kind] = countsOf(latencies, r.failures[kind])
		sum.Requests += len(latencies)
		for _, count := range r.failures[kind] {
			sum.Failures += count
		}
	}
	if sum.Seconds > 0 {
		sum.PerSecond = math.Round(float64(sum.Requests)/sum.Seconds*10) / 10
	}
	return sum
}

// complete reports whether each kind of request has succeeded at least once.
func (r *recorder) complete(kinds []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range kinds {
		failed := 0
		for _, count := range r.failures[kind] {
			failed += count
		}
		if len(r.latencies[kind]) <= failed {
			return false
		}
	}
	return true
}

// percentile is the smallest latency that at least p percent of them do not
// exceed, in milliseconds.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	index := (len(sorted)*p+99)/100 - 1
	return math.Round(float64(sorted[max(index, 0)].Microseconds())/10) / 100
}
