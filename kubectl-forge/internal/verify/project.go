package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/identity"
)

// description tells an administrator what a project is that has been left behind.
const description = "Created by kubectl forge verify, which deletes it again. It may be deleted."

// cleaning bounds the removal of a project after a failure.
const cleaning = 2 * identity.Timeout

// project creates a project and deletes it. It is also deleted if a check fails, or if the context
// ends in between.
func (r *run) project(ctx context.Context, token identity.Token) {
	p := &temporary{
		run: r, token: token, domain: token.User.Domain.Name,
		project: identity.Project{Name: r.Project, DomainID: token.User.Domain.ID, Description: description},
	}
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
	token   identity.Token
	system  bool
	domain  string
	project identity.Project
	// exists is set from when the project may exist until it certainly does not.
	exists bool
}

// create creates the project and reads it back. An interrupt does not break off the creation, so that
// its result is known.
func (p *temporary) create(ctx context.Context) (string, error) {
	if err := p.post(context.WithoutCancel(ctx)); err != nil {
		return "", err
	}
	read, err := p.read(ctx)
	if err == nil && read.Name != p.project.Name {
		err = fmt.Errorf("project %s has the name %q after its creation, not %q", p.project.ID, read.Name, p.project.Name)
	}
	text := fmt.Sprintf("%s in domain %s", p.project.Name, p.domain)
	if p.system {
		text += ", as administrator of the system"
	}
	return text, err
}

// allowed makes a request. If Keystone refuses it, it is made again as the administrator of the
// system, whom some policies leave projects to.
func (p *temporary) allowed(ctx context.Context, request func(identity.Token) error) error {
	err := request(p.token)
	if !identity.Answered(err, http.StatusForbidden) || p.system || !p.Administrator.HasPassword() {
		return err
	}
	token, refused := p.client().LogIn(ctx, p.Administrator.Account, identity.System)
	if refused != nil {
		return fmt.Errorf("%w; and there is no token for the system: %w", err, refused)
	}
	p.token, p.system = token, true
	return request(token)
}

func (p *temporary) post(ctx context.Context) error {
	p.exists = true
	err := p.allowed(ctx, func(token identity.Token) error {
		created, err := p.client().CreateProject(ctx, token, p.project)
		p.project.ID = created.ID
		return err
	})
	answer, answered := errors.AsType[*identity.AnswerError](err)
	p.exists = !answered || answer.Code >= http.StatusInternalServerError
	return err
}

func (p *temporary) read(ctx context.Context) (read identity.Project, err error) {
	err = p.allowed(ctx, func(token identity.Token) (err error) {
		read, err = p.client().ReadProject(ctx, token, p.project.ID)
		return err
	})
	return read, err
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
		return "", fmt.Errorf("project %s is still there after its deletion", p.project.ID)
	case identity.Answered(err, http.StatusNotFound), identity.Answered(err, http.StatusForbidden):
		// A policy that looks at the domain of a project refuses to say that there is none.
		return p.project.Name + " is gone", nil
	}
	return "", err
}

func (p *temporary) delete(ctx context.Context) error {
	err := p.allowed(ctx, func(token identity.Token) error { return p.client().DeleteProject(ctx, token, p.project.ID) })
	if err == nil || identity.Answered(err, http.StatusNotFound) {
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
		p.Target.Arg(), p.Target.Namespace, p.domain, p.project.Name)
	p.left = fmt.Errorf("project %s may be left: delete it with \"%s\": %w", p.project.Name, command, err)
	p.add(checkCleanUp, check.Failed, p.left.Error(), p.Clock().Sub(begun))
}

func (p *temporary) removeByName(ctx context.Context) error {
	if p.project.ID != "" {
		return p.delete(ctx)
	}
	return p.allowed(ctx, func(token identity.Token) error {
		found, err := p.client().FindProjects(ctx, token, p.project)
		for _, project := range found {
			p.project.ID = project.ID
			err = errors.Join(err, p.delete(ctx))
		}
		return err
	})
}
