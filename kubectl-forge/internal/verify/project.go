package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

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
