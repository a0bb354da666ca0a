package testutil

import (
	"context"
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

// Login is a login at the Keystone that a stand-in for K-ORC has in the namespace
// of the URL's host.
func Login(korc *standin.KORC) controller.Login {
	return func(_ context.Context, authURL, id, secret string) (controller.Verdict, error) {
		if korc.Accepts(NamespaceOf(authURL), id, secret) {
			return controller.Accepted, nil
		}
		return controller.Rejected, nil
	}
}

// Revoke is a revocation at the same Keystone.
func Revoke(korc *standin.KORC) controller.Revoke {
	return func(_ context.Context, authURL, _, id string) error {
		korc.Lose(NamespaceOf(authURL), id)
		return nil
	}
}

// NamespaceOf is the namespace of the Service that a URL names.
func NamespaceOf(url string) string {
	return strings.Split(strings.TrimPrefix(url, "http://"), ".")[1]
}

// Enrol is an enrolment of the user of a service at the same Keystone.
func Enrol(korc *standin.KORC) controller.Enrol {
	return func(_ context.Context, authURL, _ string, user controller.ServiceUser) (controller.Verdict, error) {
		namespace, role := NamespaceOf(authURL), standin.Assignment{User: user.ID, Project: user.ProjectID, Role: user.RoleID}
		if korc.Assign(namespace, role) && korc.Admits(namespace, user.Password, role) {
			return controller.Accepted, nil
		}
		return controller.Rejected, nil
	}
}

// SetRegion puts endpoints into a region of the same Keystone.
func SetRegion(korc *standin.KORC) controller.SetRegion {
	return func(_ context.Context, authURL, _, region string, endpointIDs []string) (controller.Verdict, error) {
		for _, id := range endpointIDs {
			if !korc.SetRegion(NamespaceOf(authURL), id, region) {
				return controller.Rejected, fmt.Errorf("there is no endpoint %s", id)
			}
		}
		return controller.Accepted, nil
	}
}
