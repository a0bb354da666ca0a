package identity

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/ask"
)

func TestExistingCatalogEntriesAreFoundByRegion(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"ours": "RegionOne", "theirs": "RegionTwo", "free": ""})
	api.odd["theirs"] = inCatalog{Interface: "internal", URL: urlOf("internal"), Enabled: true}
	api.odd["free"] = inCatalog{Interface: "admin", URL: urlOf("admin"), Enabled: true}
	wanted := Entries{Type: "identity", Name: "keystone", Endpoints: []Endpoint{
		{Interface: "public", URL: urlOf("elsewhere")},
		{Interface: "internal", URL: urlOf("internal")},
		{Interface: "admin", URL: urlOf("admin")},
	}}
	found, verdict, err := NewAdministrator(nil).FindEntries(t.Context(), api.url, "adm1n", "RegionOne", wanted)
	want := EntryIDs{Service: "the-service", Endpoints: []string{"ours", "", "free"}}
	if diff := cmp.Diff(want, found); diff != "" || verdict != ask.Accepted || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", verdict, err, diff)
	}
	wanted.Name = "another"
	found, verdict, err = NewAdministrator(nil).FindEntries(t.Context(), api.url, "adm1n", "RegionOne", wanted)
	if diff := cmp.Diff(EntryIDs{Endpoints: []string{"", "", ""}}, found); diff != "" || verdict != ask.Accepted || err != nil {
		t.Errorf("of a service that Keystone does not have: %v, %v (-want +got):\n%s", verdict, err, diff)
	}
	api.forbidden = "GET /v3/services"
	_, verdict, err = NewAdministrator(nil).FindEntries(t.Context(), api.url, "adm1n", "RegionOne", wanted)
	if verdict != ask.Rejected || err == nil {
		t.Errorf("of a Keystone that refuses: %v, %v", verdict, err)
	}
	if _, _, err = NewAdministrator(nil).FindEntries(t.Context(), api.url, "wr0ng", "RegionOne", wanted); !errors.Is(err, ErrPassword) {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestACatalogEntryIsRemovedUnlessAnotherRegionUsesIt(t *testing.T) {
	api := newCatalogAPI(t, map[string]string{"ours": "RegionOne", "theirs": "RegionTwo", "free": ""})
	remove := func(id string, isService bool) {
		t.Helper()
		entry := Entry{ID: id, IsService: isService}
		if err := NewAdministrator(nil).RemoveEntry(t.Context(), api.url, "adm1n", "RegionOne", entry); err != nil {
			t.Errorf("removing %+v: %v", entry, err)
		}
	}
	for _, id := range []string{"ours", "theirs", "free", "gone"} {
		remove(id, false)
	}
	remove("the-service", true)
	if diff := cmp.Diff(map[string]string{"theirs": "RegionTwo"}, api.endpoints); diff != "" || api.disabled {
		t.Errorf("the service is gone: %t; endpoints (-want +got):\n%s", api.disabled, diff)
	}
	delete(api.endpoints, "theirs")
	if remove("the-service", true); !api.disabled {
		t.Error("a service without endpoints stays")
	}
	api.forbidden = "DELETE /v3/services/the-service"
	err := NewAdministrator(nil).RemoveEntry(t.Context(), api.url, "adm1n", "RegionOne", Entry{ID: "the-service", IsService: true})
	if err == nil || err.Error() != "deleting the service the-service: it answered with status 403" {
		t.Errorf("got %v", err)
	}
}
