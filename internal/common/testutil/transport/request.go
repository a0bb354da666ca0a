// Package transport observes and disturbs the requests that a client sends to
// the Kubernetes API server, at the only place that sees all of them: the
// HTTP transport of a rest.Config.
package transport

import (
	"fmt"
	"net/http"
	"strings"
)

// Request is one request to the Kubernetes API, read from its HTTP form.
type Request struct {
	// Verb is the API verb in lower case: get, list, watch, create, update,
	// patch, apply, delete or deletecollection.
	Verb string
	// Group is the API group; empty for the core group and for requests that
	// concern no resource.
	Group string
	// Resource is the plural resource name; empty for discovery, health and
	// other requests that concern no resource.
	Resource string
	// Subresource is "status", "scale" and the like; usually empty.
	Subresource string
	// Namespace and Name identify the object; empty if the request has none.
	Namespace, Name string
	// Path is the URL path as sent.
	Path string
	// Code is the HTTP status of the response; 0 if there was none.
	Code int
}

// Kind returns what the request does with which resource, without the names of
// the object and its namespace.
func (r Request) Kind() Request {
	return Request{Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource}
}

// Write reports whether the request can change a stored object. Events and
// leases count as writes too; see [Request.Event] and [Request.Lease].
func (r Request) Write() bool {
	switch r.Verb {
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		return true
	default:
		return false
	}
}

// Stored reports whether the API server executed the write. A write that is
// based on an outdated state is refused and retried: how
// often depends on timing.
func (r Request) Stored() bool {
	return r.Write() && r.Code >= http.StatusOK && r.Code < http.StatusMultipleChoices
}

// Event reports whether the request is about an Event of either Event API.
func (r Request) Event() bool { return r.Resource == "events" }

// Lease reports whether the request is about a leader-election lease.
func (r Request) Lease() bool {
	return r.Group == "coordination.k8s.io" && r.Resource == "leases"
}

// String returns the request on one line, for failure messages.
func (r Request) String() string {
	if r.Resource == "" {
		return r.Verb + " " + r.Path
	}
	line := r.Verb + " " + r.Resource
	if r.Group != "" {
		line += "." + r.Group
	}
	if r.Subresource != "" {
		line += "/" + r.Subresource
	}
	if r.Name != "" {
		line += " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
	}
	if r.Code >= http.StatusMultipleChoices {
		line += fmt.Sprintf(" (%d)", r.Code)
	}
	return line
}

// Parse extracts the Kubernetes API request from an HTTP request. The path
// grammar is the one of the API concepts page of the Kubernetes reference.
func Parse(req *http.Request) Request {
	r := Request{Path: req.URL.Path, Verb: strings.ToLower(req.Method)}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Group = parts[1]
		parts = parts[3:]
	default:
		return r
	}
	// A Namespace object has the same path prefix as its contents.
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		r.Namespace = parts[1]
		parts = parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
	r.Verb = verb(req, r.Name != "")
	return r
}

func verb(req *http.Request, named bool) string {
	switch req.Method {
	case http.MethodGet:
		switch watch := req.URL.Query().Get("watch"); {
		case watch == "true" || watch == "1":
			return "watch"
		case named:
			return "get"
		default:
			return "list"
		}
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch") {
			return "apply"
		}
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	default:
		return strings.ToLower(req.Method)
	}
}
