// Package audit reads the audit log of an API server and counts the requests of one
// user.
package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Class is a kind of request that is counted separately.
type Class string

// The classes. A request is of one of them.
const (
	Creates Class = "creates"
	// Patches are server-side applies and all other changes of objects.
	Patches Class = "patches"
	Deletes Class = "deletes"
	// Status are writes of a status.
	Status Class = "status"
	// Reads are get and list.
	Reads Class = "reads"
	// Misses are reads that found nothing.
	Misses Class = "misses"
	Events Class = "events"
)

// Classes lists all classes in display order.
var Classes = []Class{Creates, Patches, Deletes, Status, Reads, Misses, Events}

// Counts are numbers of requests by class.
type Counts map[Class]int

// Sum is the number of all requests.
func (c Counts) Sum() int {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return sum
}

// Since returns the difference to earlier counts.
func (c Counts) Since(earlier Counts) Counts {
	difference := Counts{}
	for _, class := range Classes {
		difference[class] = c[class] - earlier[class]
	}
	return difference
}

// Log follows the audit log of a running API server.
type Log struct {
	file    io.ReadCloser
	user    string
	partial []byte
	counts  Counts
	watches map[string]int
}

// Open follows the log in an existing file. Only the requests of the
// user are counted.
func Open(path, user string) (*Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &Log{file: file, user: user, counts: Counts{}, watches: map[string]int{}}, nil
}

// Close stops reading.
func (l *Log) Close() error { return l.file.Close() }

// Read reads what the API server has written since the last call.
func (l *Log) Read() error {
	fresh, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	data := append(l.partial, fresh...)
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			l.partial = bytes.Clone(line)
			return nil
		}
		if err := l.add(line); err != nil {
			return err
		}
		data = rest
	}
}

// Counts returns the requests that were answered so far, without discovery and
// leases.
func (l *Log) Counts() Counts { return maps.Clone(l.counts) }

// Watches returns how many watches are open, by resource and selector.
func (l *Log) Watches() map[string]int {
	open := maps.Clone(l.watches)
	maps.DeleteFunc(open, func(_ string, n int) bool { return n == 0 })
	return open
}

// event is the relevant part of an Event of audit.k8s.io/v1.
type event struct {
	Stage, Verb, RequestURI string

	User           struct{ Username string }
	ObjectRef      *struct{ Resource, Subresource, APIGroup string }
	ResponseStatus struct{ Code int }
}

// add counts one line of the audit log. Requests of other users and leases are ignored.
func (l *Log) add(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("parse the audit log: %w", err)
	}
	if e.User.Username != l.user || e.ObjectRef == nil || e.ObjectRef.Resource == "leases" {
		return nil
	}
	switch {
	case e.Verb == "watch" && e.Stage == "ResponseStarted":
		l.watches[e.watched()]++
	case e.Verb == "watch":
		// A refused watch has not started.
		if what := e.watched(); l.watches[what] > 0 {
			l.watches[what]--
		}
	case e.Stage == "ResponseComplete" || e.Stage == "Panic":
		l.counts[e.class()]++
	}
	return nil
}

// class returns the class in which a request is counted.
func (e event) class() Class {
	switch {
	case e.ObjectRef.Resource == "events" && e.Verb != "get" && e.Verb != "list":
		return Events
	case e.Verb == "get" || e.Verb == "list":
		if e.ResponseStatus.Code == http.StatusNotFound {
			return Misses
		}
		return Reads
	case strings.HasPrefix(e.Verb, "delete"):
		return Deletes
	case e.ObjectRef.Subresource == "status":
		return Status
	case e.Verb == "create":
		return Creates
	}
	return Patches
}

// watched identifies a watch: its resource, and the labels that select.
func (e event) watched() string {
	name := strings.TrimSuffix(e.ObjectRef.Resource+"."+e.ObjectRef.APIGroup, ".")
	address, err := url.Parse(e.RequestURI)
	if err != nil {
		return name
	}
	if selector := address.Query().Get("labelSelector"); selector != "" {
		name += " with " + selector
	}
	return name
}
