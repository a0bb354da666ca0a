package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

// maxDocument is the number of bytes that are read of an answer.
const maxDocument = 1 << 20

// Types of services in the catalog
// (https://service-types.openstack.org/service-types.json).
const (
	TypeIdentity  = "identity"
	TypePlacement = "placement"
)

// lists are requests that need a token and the database, by the type of the service. The versions
// of an API are shown without either.
var lists = map[string]string{TypePlacement: "/resource_classes"}

// endpoint is where an API is, according to the catalog.
type endpoint struct {
	tokens.Endpoint

	// service is the type of the service, such as identity.
	service string
}

func (e endpoint) String() string {
	return strings.TrimSpace(strings.Join([]string{checkEndpoint, e.service, e.Interface, e.RegionID}, " "))
}

// reach requests the versions of the API at the endpoint, as clients do first, without a token.
func (r *run) reach(ctx context.Context, e endpoint, token string) (string, error) {
	code, location, document, err := r.get(ctx, e.URL, "")
	if err != nil {
		return "", err
	}
	version := versionOf(document)
	text, err := judged(e, code, location, version)
	if err != nil {
		return "", err
	}
	if version != "" {
		text += ", " + version
	}
	path, known := lists[e.service]
	if !known {
		return text, nil
	}
	address := strings.TrimRight(e.URL, "/") + path
	code, _, _, err = r.get(ctx, address, token)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s answers a request of the administrator with HTTP status %d: see the log of its pods", address, code)
	}
	return text, err
}

// judged returns what an answer says about the endpoint. The services of a ControlPlane have to show
// their versions; others may need a token for that, or redirect to them.
func judged(e endpoint, code int, location, version string) (string, error) {
	text := fmt.Sprintf("%s answers with HTTP status %d", e.URL, code)
	own := e.service == TypeIdentity || e.service == TypePlacement
	switch {
	case code == http.StatusOK || code == http.StatusMultipleChoices:
		if version == "" && own {
			return "", fmt.Errorf("%s, but not with the versions of an API: something else is at that URL", text)
		}
		return text, nil
	case code < http.StatusMultipleChoices, code == http.StatusUnauthorized, code == http.StatusForbidden:
		return text, nil
	case code >= http.StatusBadRequest:
		return "", fmt.Errorf("%s: correct the endpoint, or repair what is there", text)
	case own:
		return "", fmt.Errorf("%s and redirects to %s: correct the endpoint", text, location)
	}
	return text + " and redirects to " + location, nil
}

// get sends a request, with a token if there is one.
func (r *run) get(ctx context.Context, address, token string) (code int, location string, document []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || request.URL.Host == "" {
		return 0, "", nil, fmt.Errorf("the catalog has %q, which is no URL of an API", address)
	}
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := r.Network.Client().Do(request)
	if failed, is := errors.AsType[*url.Error](err); is {
		return 0, "", nil, fmt.Errorf("%s cannot be reached: %w", address, failed.Err)
	}
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if document, err = io.ReadAll(io.LimitReader(response.Body, maxDocument)); err != nil {
		return 0, "", nil, fmt.Errorf("the answer of %s breaks off: %w", address, err)
	}
	return response.StatusCode, response.Header.Get("Location"), document, nil
}

// version is a version of an API, as its versions document describes it
// (https://specs.openstack.org/openstack/api-sig/guidelines/consuming-catalog/version-discovery.html).
type version struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	MaxVersion string `json:"max_version"`
}

// versionOf returns the current version in a versions document, "" if it is none. Keystone wraps the
// list at its root in an object.
func versionOf(document []byte) string {
	var one struct{ Version version }
	var list struct{ Versions []version }
	var wrapped struct {
		Versions struct{ Values []version }
	}
	all := []version{}
	switch {
	case json.Unmarshal(document, &one) == nil && one.Version.ID != "":
		all = []version{one.Version}
	case json.Unmarshal(document, &list) == nil:
		all = list.Versions
	case json.Unmarshal(document, &wrapped) == nil:
		all = wrapped.Versions.Values
	}
	if len(all) == 0 {
		return ""
	}
	current := all[max(0, slices.IndexFunc(all, func(v version) bool { return v.Status == "CURRENT" || v.Status == "stable" }))]
	if current.MaxVersion != "" {
		return current.ID + " up to " + current.MaxVersion
	}
	return current.ID
}

// description tells an administrator what a project is that has been left behind.
const description = "Created by kubectl forge verify, which deletes it again. It may be deleted."

// cleaning bounds the removal of a project after a failure.
const cleaning = time.Minute

// project creates a project and deletes it. It is also deleted if a check fails, or if the context
// ends in between.
func (r *run) project(ctx context.Context, token token) {
	p := &temporary{run: r, token: token}
	defer p.cleanUp(ctx)
	if !r.step(ctx, checkCreateProject, p.create) {
		r.skip(ctx, checkCreateProject, checkDeleteProject)
		return
	}
	r.step(ctx, checkDeleteProject, p.remove)
}

// temporary is a project that must not be left behind.
type temporary struct {
	*run

	// token is the administrator's, or that of the administrator of the system.
	token  token
	system bool
	id     string
	// exists is set from when the project may exist until it certainly does not.
	exists bool
}

// allowed makes a request. If Keystone refuses it, it is made again as the administrator of the
// system, whom some policies leave projects to.
func (p *temporary) allowed(ctx context.Context, request func(*gophercloud.ServiceClient) error) error {
	attempt := func() error {
		return explained(request(p.identity(p.Network.Client(), p.token.id)), p.token.id)
	}
	err := attempt()
	if !gophercloud.ResponseCodeIs(err, http.StatusForbidden) || p.system || !p.Administrator.hasPassword() {
		return err
	}
	ofSystem, refused := p.newToken(ctx, p.Administrator, &gophercloud.AuthScope{System: true})
	if refused != nil {
		return fmt.Errorf("%w; and there is no token for the system: %w", err, refused)
	}
	p.token.id, p.system = ofSystem.id, true
	return attempt()
}

// create creates the project and reads it back. An interrupt does not break off the creation, so that
// its result is known.
func (p *temporary) create(ctx context.Context) (string, error) {
	p.exists = true
	err := p.allowed(context.WithoutCancel(ctx), func(c *gophercloud.ServiceClient) error {
		created, err := projects.Create(context.WithoutCancel(ctx), c, projects.CreateOpts{
			Name: p.Project, DomainID: p.token.user.Domain.ID, Description: description,
		}).Extract()
		if err == nil {
			p.id = created.ID
		}
		return err
	})
	answer, answered := answerOf(err)
	p.exists = !answered || answer.Actual >= http.StatusInternalServerError
	if err != nil {
		return "", err
	}
	name, err := p.read(ctx)
	if err == nil && name != p.Project {
		err = fmt.Errorf("project %s has the name %q after its creation, not %q", p.id, name, p.Project)
	}
	text := fmt.Sprintf("%s in domain %s", p.Project, p.token.user.Domain.Name)
	if p.system {
		text += ", as administrator of the system"
	}
	return text, err
}

// read returns the name of the project.
func (p *temporary) read(ctx context.Context) (name string, err error) {
	err = p.allowed(ctx, func(c *gophercloud.ServiceClient) error {
		project, err := projects.Get(ctx, c, p.id).Extract()
		if err == nil {
			name = project.Name
		}
		return err
	})
	return name, err
}

// remove deletes the project and makes sure that it is gone.
func (p *temporary) remove(ctx context.Context) (string, error) {
	if err := p.delete(context.WithoutCancel(ctx)); err != nil {
		return "", err
	}
	_, err := p.read(ctx)
	switch {
	case err == nil:
		p.exists = true
		return "", fmt.Errorf("project %s is still there after its deletion", p.id)
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound), gophercloud.ResponseCodeIs(err, http.StatusForbidden):
		// A policy that looks at the domain of a project refuses to say that there is none.
		return p.Project + " is gone", nil
	}
	return "", err
}

func (p *temporary) delete(ctx context.Context) error {
	err := p.allowed(ctx, func(c *gophercloud.ServiceClient) error { return projects.Delete(ctx, c, p.id).ExtractErr() })
	if err == nil || gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		p.exists = false
		return nil
	}
	return err
}

// cleanUp deletes the project unless it is known not to exist. If its creation was not answered, it
// is looked up by its name.
func (p *temporary) cleanUp(ctx context.Context) {
	if !p.exists {
		return
	}
	begun := p.Clock()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	err := p.removeByName(limited)
	if err == nil {
		return
	}
	command := fmt.Sprintf("kubectl forge login %s -n %s -- openstack project delete --domain '%s' %s",
		p.Target.Arg(), p.Target.Namespace, p.token.user.Domain.Name, p.Project)
	p.left = fmt.Errorf("project %s may be left: delete it with \"%s\": %w", p.Project, command, err)
	p.add(checkCleanUp, check.Failed, p.left.Error(), p.Clock().Sub(begun))
}

func (p *temporary) removeByName(ctx context.Context) error {
	if p.id != "" {
		return p.delete(ctx)
	}
	return p.allowed(ctx, func(c *gophercloud.ServiceClient) error {
		page, err := projects.List(c, projects.ListOpts{Name: p.Project, DomainID: p.token.user.Domain.ID}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := projects.ExtractProjects(page)
		for _, project := range found {
			p.id = project.ID
			err = errors.Join(err, p.delete(ctx))
		}
		return err
	})
}
