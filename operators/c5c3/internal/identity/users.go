package identity

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/internal/common/ask"
)

// ServiceUser is the user of a service in Keystone, with the IDs assigned by Keystone and
// the role that it needs in a project.
type ServiceUser struct {
	ID, Password      string
	ProjectID, RoleID string
}

// Enrol ensures that the Keystone at a URL issues tokens to the user of a service, for
// its project and with its role. If necessary, it assigns the role with the
// administrator's password. [ask.Rejected] means that there is no token although the role is
// assigned. The error explains a missing verdict; it never contains a password.
type Enrol func(ctx context.Context, authURL, adminPassword string, user ServiceUser) (ask.Verdict, error)

// Enrol is an [Enrol]. K-ORC knows no assignments of roles.
func (a *Administrator) Enrol(ctx context.Context, authURL, adminPassword string, user ServiceUser) (ask.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if verdict, err := user.logIn(ctx, authURL); verdict != ask.Rejected {
		return verdict, err
	}
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	if err != nil {
		return ask.Unproven, err
	}
	assignment := roles.AssignOpts{UserID: user.ID, ProjectID: user.ProjectID}
	if err := roles.Assign(ctx, identity, user.RoleID, assignment).ExtractErr(); err != nil {
		return ask.Unproven, fmt.Errorf("assigning the role %s to the user %s: %w", user.RoleID, user.ID, plain(err))
	}
	return user.logIn(ctx, authURL)
}

// logIn requests a token like the service does. A token without the role counts as none.
func (u ServiceUser) logIn(ctx context.Context, authURL string) (ask.Verdict, error) {
	created := tokens.Create(ctx, identityClient(authURL), &tokens.AuthOptions{
		UserID: u.ID, Password: u.Password, Scope: tokens.Scope{ProjectID: u.ProjectID},
	})
	switch {
	case gophercloud.ResponseCodeIs(created.Err, http.StatusUnauthorized):
		return ask.Rejected, nil
	case created.Err != nil:
		return ask.Unproven, fmt.Errorf("logging in at Keystone as the user %s: %w", u.ID, plain(created.Err))
	}
	granted, err := created.ExtractRoles()
	switch {
	case err != nil:
		return ask.Unproven, fmt.Errorf("reading the roles of the user %s: %w", u.ID, err)
	case !slices.ContainsFunc(granted, func(role tokens.Role) bool { return role.ID == u.RoleID }):
		return ask.Rejected, nil
	}
	return ask.Accepted, nil
}
