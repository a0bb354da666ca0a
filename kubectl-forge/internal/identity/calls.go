package identity

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/c5c3/forge/internal/common/redact"
)

// Token is what Keystone says about a token.
type Token struct {
	Value   redact.Bytes `json:"-"`
	Expires time.Time    `json:"expires_at"`
	User    struct {
		Name   string `json:"name"`
		Domain struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"domain"`
	} `json:"user"`
	Project struct {
		Name string `json:"name"`
	} `json:"project"`
}

// LogIn requests a token for the account.
func (c Client) LogIn(ctx context.Context, account Account, scope Scope) (Token, error) {
	var answer struct{ Token Token }
	header, err := c.do(ctx, request{
		method: http.MethodPost, path: "/auth/tokens", body: account.body(scope), want: http.StatusCreated, silent: true,
	}, &answer)
	if err != nil {
		return Token{}, err
	}
	answer.Token.Value = redact.Bytes(header.Get(subjectHeader))
	return answer.Token, nil
}

// Validate asks Keystone about the token, as services do that receive one.
func (c Client) Validate(ctx context.Context, token Token) (Token, error) {
	var answer struct{ Token Token }
	_, err := c.do(ctx, request{
		method: http.MethodGet, path: "/auth/tokens?nocatalog", token: token.Value, subject: token.Value, want: http.StatusOK,
	}, &answer)
	answer.Token.Value = token.Value
	return answer.Token, err
}

// Endpoint is where an API is, according to the catalog.
type Endpoint struct {
	// Type is that of the service, such as identity.
	Type      string `json:"-"`
	Interface string `json:"interface"`
	Region    string `json:"region_id"`
	URL       string `json:"url"`
}

// Catalog returns the endpoints of all services in the order of the catalog.
func (c Client) Catalog(ctx context.Context, token Token) ([]Endpoint, error) {
	var answer struct {
		Catalog []struct {
			Type      string
			Endpoints []Endpoint
		}
	}
	_, err := c.do(ctx, request{method: http.MethodGet, path: "/auth/catalog", token: token.Value, want: http.StatusOK}, &answer)
	var all []Endpoint
	for _, service := range answer.Catalog {
		for _, endpoint := range service.Endpoints {
			endpoint.Type = service.Type
			all = append(all, endpoint)
		}
	}
	return all, err
}

// Project is a project of Keystone.
type Project struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name"`
	DomainID    string `json:"domain_id"`
	Description string `json:"description"`
}

// CreateProject creates the project and returns it with its ID.
func (c Client) CreateProject(ctx context.Context, token Token, project Project) (Project, error) {
	var answer struct{ Project Project }
	_, err := c.do(ctx, request{
		method: http.MethodPost, path: "/projects", token: token.Value, body: object{"project": project}, want: http.StatusCreated,
	}, &answer)
	return answer.Project, err
}

// ReadProject returns the project with the ID.
func (c Client) ReadProject(ctx context.Context, token Token, id string) (Project, error) {
	var answer struct{ Project Project }
	_, err := c.do(ctx, request{
		method: http.MethodGet, path: "/projects/" + url.PathEscape(id), token: token.Value, want: http.StatusOK,
	}, &answer)
	return answer.Project, err
}

// FindProjects returns the projects with the name in the domain, of which there is at most one.
func (c Client) FindProjects(ctx context.Context, token Token, project Project) ([]Project, error) {
	var answer struct{ Projects []Project }
	query := url.Values{"name": {project.Name}, "domain_id": {project.DomainID}}
	_, err := c.do(ctx, request{
		method: http.MethodGet, path: "/projects?" + query.Encode(), token: token.Value, want: http.StatusOK,
	}, &answer)
	return answer.Projects, err
}

// DeleteProject deletes the project with the ID.
func (c Client) DeleteProject(ctx context.Context, token Token, id string) error {
	_, err := c.do(ctx, request{
		method: http.MethodDelete, path: "/projects/" + url.PathEscape(id), token: token.Value, want: http.StatusNoContent,
	}, nil)
	return err
}
