package testutil

import (
	"context"
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Login logs in to the Keystone of the K-ORC stand-in, in the namespace of the URL's
// host.
func Login(korc *standin.KORC) identity.Login {
	return func(_ context.Context, authURL, id, secret string) (ask.Verdict, error) {
		if korc.Accepts(NamespaceOf(authURL), id, secret) {
			return ask.Accepted, nil
		}
		return ask.Rejected, nil
	}
}

// Revoke revokes a credential in the same Keystone.
func Revoke(korc *standin.KORC) identity.Revoke {
	return func(_ context.Context, authURL, _, id string) error {
		korc.Lose(NamespaceOf(authURL), id)
		return nil
	}
}

// NamespaceOf returns the namespace of the Service that a URL names.
func NamespaceOf(url string) string {
	return strings.Split(strings.TrimPrefix(url, "http://"), ".")[1]
}

// Enrol enrols a service user in the same Keystone.
func Enrol(korc *standin.KORC) identity.Enrol {
	return func(_ context.Context, authURL, _ string, user identity.ServiceUser) (ask.Verdict, error) {
		namespace, role := NamespaceOf(authURL), standin.Assignment{User: user.ID, Project: user.ProjectID, Role: user.RoleID}
		if korc.Assign(namespace, role) && korc.Admits(namespace, user.Password, role) {
			return ask.Accepted, nil
		}
		return ask.Rejected, nil
	}
}

// SetEndpoints puts endpoints into a region of the same Keystone.
func SetEndpoints(korc *standin.KORC) identity.SetEndpoints {
	return func(
		_ context.Context, authURL string, _ identity.Credential, _, region string, wanted []identity.Endpoint,
	) (ask.Verdict, error) {
		for _, endpoint := range wanted {
			if !korc.SetRegion(NamespaceOf(authURL), endpoint.ID, region) {
				return ask.Rejected, fmt.Errorf("there is no endpoint %s", endpoint.ID)
			}
		}
		return ask.Accepted, nil
	}
}

// FindEntries finds entries of the catalog in the same Keystone.
func FindEntries(korc *standin.KORC) identity.FindEntries {
	return func(_ context.Context, authURL, _, _ string, wanted identity.Entries) (identity.EntryIDs, ask.Verdict, error) {
		found := identity.EntryIDs{Service: korc.Names(NamespaceOf(authURL), "Service")[wanted.Name]}
		endpoints := korc.Names(NamespaceOf(authURL), "Endpoint")
		for _, endpoint := range wanted.Endpoints {
			found.Endpoints = append(found.Endpoints, endpoints[endpoint.Interface+" "+endpoint.URL])
		}
		return found, ask.Accepted, nil
	}
}

// RemoveEntry removes one there.
func RemoveEntry(korc *standin.KORC) identity.RemoveEntry {
	return func(_ context.Context, authURL, _, _ string, entry identity.Entry) error {
		korc.Lose(NamespaceOf(authURL), entry.ID)
		return nil
	}
}

// asking sends the requests of an operator to the same Keystone.
func asking(korc *standin.KORC) func(*pass.Tools) {
	return func(t *pass.Tools) {
		t.Login, t.RevokeCredential, t.Enrol, t.DeleteUser = Login(korc), Revoke(korc), Enrol(korc), Revoke(korc)
		t.SetEndpoints, t.FindEntries, t.RemoveEntry = SetEndpoints(korc), FindEntries(korc), RemoveEntry(korc)
	}
}
