package keyring

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/fernet"
)

var berths = Format{File: "berths.conf", Section: "berths", Option: "key"}

func made(t *testing.T) string {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestARotationAnnouncesLeadsAndSettles(t *testing.T) {
	first, second := made(t), made(t)
	ring := Ring{Keys: []string{first}, Answered: "once"}
	replaced := fernet.ID([]byte(first))
	for _, step := range []struct {
		next               Ring
		want               Ring
		settled, announced bool
	}{
		{ring, Ring{Keys: []string{first}, Answered: "once"}, true, false},
		{ring.announce(second, "again"), Ring{[]string{first, second}, replaced, "again"}, false, true},
		{ring.announce(second, "again").lead(), Ring{[]string{second, first}, replaced, "again"}, false, false},
		{ring.announce(second, "again").lead().settle(), Ring{Keys: []string{second}, Answered: "again"}, true, false},
	} {
		read, err := berths.Parse(berths.Data(step.next))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, read); diff != "" {
			t.Errorf("the ring changes when it is stored (-want +got):\n%s", diff)
		}
		if read.settled() != step.settled || read.announced() != step.announced {
			t.Errorf("settled %t, announced %t: %+v", read.settled(), read.announced(), step.want)
		}
	}
}

func TestARingOfSeveralKeysEndsWithTheNewOneAlone(t *testing.T) {
	former, older, next := made(t), made(t), made(t)
	ring := Ring{Keys: []string{former, older}}.announce(next, "again")
	if diff := cmp.Diff([]string{former, next, older}, ring.Keys); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{next}, ring.lead().settle().Keys); diff != "" {
		t.Error(diff)
	}
}

func TestAServiceReadsItsKeysOnePerLine(t *testing.T) {
	data := berths.Data(Ring{Keys: []string{"one", "two"}})
	if got := string(data["berths.conf"]); got != "[berths]\nkey = one\nkey = two\n" || len(data) != 1 {
		t.Errorf("got %q with %d entries", got, len(data))
	}
}

func TestUnusableKeysAreRefusedWithoutQuotingThem(t *testing.T) {
	key := made(t)
	good := string(berths.Data(Ring{Keys: []string{key}})["berths.conf"])
	for name, c := range map[string]struct {
		file, replaced, says string
	}{
		"nothing":                       {"", "", "does not begin with the line [berths]"},
		"another section":               {"[ships]\n", "", "does not begin with the line [berths]"},
		"no key":                        {"[berths]\n", "", "has no key"},
		"another option":                {good + "hunter2 = x\n", "", "line 3 of entry berths.conf does not begin"},
		"a short key":                   {"[berths]\nkey = hunter2\n", "", "the key in line 2 of entry berths.conf has 7 characters"},
		"a key with a malformed end":    {"[berths]\nkey = " + strings.Repeat("%", 44) + "\n", "", "is not the URL-safe base64 form"},
		"the same key twice":            {good + "key = " + key + "\n", "", "line 3 of entry berths.conf repeats a key"},
		"a rotation of an unknown key":  {good + "key = " + made(t) + "\n", "0123", "not those of the rotation"},
		"a rotation without a new key":  {good, fernet.ID([]byte(key)), "not those of the rotation"},
		"an empty line between the two": {good + "\nkey = " + made(t) + "\n", "", "line 3 of entry berths.conf does not begin"},
	} {
		data := map[string][]byte{"berths.conf": []byte(c.file)}
		if c.replaced != "" {
			data[entryReplaced] = []byte(c.replaced)
		}
		err := berths.Validate(data)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") ||
			strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}
