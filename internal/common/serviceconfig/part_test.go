package serviceconfig

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

// pilots is a part with one of everything.
var pilots = Part{
	Options: func(*service.Pass) ini.File {
		return ini.File{"pilots": {"number": "two"}, "DEFAULT": {"pier": "that of the pilots"}}
	},
	SecretOptions: func(context.Context, *service.Pass) (ini.File, []types.UID, error) {
		return ini.File{"pilots": {"password": "ahoy"}}, []types.UID{"pilots-uid"}, nil
	},
	Derived: func(_ *service.Pass, secret ini.File) ini.File {
		return ini.File{"pilots": {"key": "of " + secret["pilots"]["password"]}}
	},
	Files: map[string]string{"pilots.py": "pass\n"},
	Lists: []string{"pilots.opts:list"},
}

func TestAPartAddsItsOptionsAndFiles(t *testing.T) {
	with := settings
	with.Parts = []Part{{}, pilots}
	p := passOf(t, instance.Brownfield())
	options, files, err := with.Render(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := ini.File{"DEFAULT": {"debug": "false", "pier": "one"}, "pilots": {"number": "two"}}
	if diff := cmp.Diff(want, options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if files["pilots.py"] == "" || !strings.Contains(files[CheckFile], "LISTS = [\"oslo_log._options:list_opts\",\"pilots.opts:list\"]") {
		t.Errorf("got the files %v with the check\n%s", slices.Sorted(maps.Keys(files)), files[CheckFile])
	}
}

func TestTheSecretOptionsOfAPartAreOverriddenByThoseOfTheUser(t *testing.T) {
	with := settings
	with.Parts = []Part{pilots, {}}
	p := withSecret(t, "1", settings.File, "[pilots]\nship = tender\n")
	secret, err := with.readSecrets(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want := secretOptions{
		options: ini.File{"pilots": {"password": "ahoy", "ship": "tender"}}, repeated: ini.Repeated{},
		user:    ini.File{"pilots": {"ship": "tender"}},
		derived: ini.File{"pilots": {"key": "of ahoy"}}, sources: []types.UID{"pilots-uid", "1"},
	}
	if diff := cmp.Diff(want, secret, cmp.AllowUnexported(secretOptions{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	p = withSecret(t, "1", settings.File, "[pilots]\npassword = other\n")
	if secret, err = with.readSecrets(t.Context(), p); err != nil || secret.options["pilots"]["password"] != "other" {
		t.Errorf("got %v and %v", secret.options, err)
	}
}

func TestDerivedOptionsDoNotChangeTheHashOfUserOptions(t *testing.T) {
	rendered := func(part Part) service.Rendered {
		with := settings
		with.Parts = []Part{part}
		p := passOf(t, instance.Brownfield())
		if outcome := with.Reconcile(t.Context(), p); !outcome.IsDone() {
			t.Fatal(outcome.Message())
		}
		return service.Config.Value(p.Slots)
	}
	without := pilots
	without.Derived = nil
	before, after := rendered(without), rendered(pilots)
	if before.Given != before.Secret || after.Given != before.Given {
		t.Errorf("users have given %s, now %s; the Secret was %s", before.Given, after.Given, before.Secret)
	}
	if after.Secret == before.Secret || after.Options["pilots"]["key"] != "of ahoy" {
		t.Errorf("pods do not get the derived option: Secret %s, options %v", after.Secret, after.Options)
	}
}

func TestAPartWithAnUnreadableSecretFailsTheStep(t *testing.T) {
	with := settings
	with.Parts = []Part{{SecretOptions: func(context.Context, *service.Pass) (ini.File, []types.UID, error) {
		return nil, nil, errors.New("the pilots are on strike")
	}}}
	outcome := with.Reconcile(t.Context(), passOf(t, instance.Brownfield()))
	if outcome.IsDone() || !strings.Contains(outcome.Message(), "on strike") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}
