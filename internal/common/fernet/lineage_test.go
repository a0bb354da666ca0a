package fernet

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

func TestAKeySetRotatedByKeystoneIsAValidSuccessor(t *testing.T) {
	for name, maxActive := range map[string]int{"a steady number": 3, "a raised number": 6, "a lowered number": 3} {
		t.Run(name, func(t *testing.T) {
			current := generate(t, 5)
			for range 4 {
				next := rotate(current, maxActive, generate(t, 1)["0"])
				if err := ValidateSuccessor(current, next); err != nil {
					t.Fatal(err)
				}
				current = next
			}
		})
	}
}

func TestAnUnrelatedKeySetIsNotASuccessor(t *testing.T) {
	current := generate(t, 3)
	fresh := func() []byte { return generate(t, 1)["0"] }
	for name, test := range map[string]struct {
		change func(next map[string][]byte)
		want   string
	}{
		"a lost primary key":         {func(next map[string][]byte) { delete(next, "2") }, `primary key "2" would be lost`},
		"a replaced primary key":     {func(next map[string][]byte) { next["2"] = fresh() }, `primary key "2" would be lost`},
		"an unknown promoted key":    {func(next map[string][]byte) { next["3"] = fresh() }, "not the one that was staged"},
		"no promotion":               {func(next map[string][]byte) { delete(next, "3") }, "not the one that was staged"},
		"a promotion of two":         {func(next map[string][]byte) { next["4"] = fresh() }, "not the one that was staged"},
		"no staged key":              {func(next map[string][]byte) { delete(next, "0") }, `key "0" is not new`},
		"the promoted key staged":    {func(next map[string][]byte) { next["0"] = next["3"] }, `key "0" is not new`},
		"a former key staged":        {func(next map[string][]byte) { next["0"] = current["1"] }, `key "0" is not new`},
		"another secondary key":      {func(next map[string][]byte) { next["1"] = fresh() }, `key "1" differs from the one in use`},
		"a name that is no number":   {func(next map[string][]byte) { next["old"] = fresh() }, `"old" is not a number`},
		"a number spelt another way": {func(next map[string][]byte) { next["01"] = fresh() }, `"01" is not a number`},
		"a negative number":          {func(next map[string][]byte) { next["-1"] = fresh() }, `"-1" is not a number`},
		"nothing":                    {func(next map[string][]byte) { clear(next) }, "not the one that was staged"},
	} {
		t.Run(name, func(t *testing.T) {
			next := rotate(current, 4, fresh())
			test.change(next)
			err := ValidateSuccessor(current, next)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error with %q", err, test.want)
			}
			for _, key := range next {
				if strings.Contains(err.Error(), string(key)) {
					t.Error("the error shows a key")
				}
			}
		})
	}
}

func TestTheSuccessorOfAnOlderKeySetIsRefused(t *testing.T) {
	older := generate(t, 3)
	current := rotate(older, 3, generate(t, 1)["0"])
	late := rotate(older, 3, generate(t, 1)["0"])
	if err := ValidateSuccessor(current, late); !errors.Is(err, ErrNotSuccessor) {
		t.Errorf("got %v, want ErrNotSuccessor", err)
	}
	if err := ValidateSuccessor(current, current); !errors.Is(err, ErrNotSuccessor) {
		t.Errorf("the keys in use: got %v, want ErrNotSuccessor", err)
	}
}

// FuzzAnAcceptedKeySetKeepsWhatIsInUse stages arbitrary keys: every accepted set
// contains the former primary key and promotes the staged one.
func FuzzAnAcceptedKeySetKeepsWhatIsInUse(f *testing.F) {
	current := map[string][]byte{}
	for i, name := range []string{"0", "1", "2"} {
		current[name] = []byte(strings.Repeat(string(rune('A'+i)), 42) + "A=")
	}
	fresh := strings.Repeat("Z", 42) + "A="
	f.Add("0", fresh, "2", string(current["2"]), "3", string(current["0"]))
	f.Add("0", fresh, "1", string(current["1"]), "2", string(current["2"]))
	f.Add("0", "", "02", string(current["2"]), "+3", string(current["0"]))
	f.Add("", "\x00", "-1", fresh, "9999999999999999999999", "x")
	f.Fuzz(func(t *testing.T, name1, key1, name2, key2, name3, key3 string) {
		next := map[string][]byte{name1: []byte(key1), name2: []byte(key2), name3: []byte(key3)}
		staged := maps.Clone(next)
		err := errors.Join(Validate(next, 3), ValidateSuccessor(current, next))
		if err != nil {
			for _, key := range []string{key1, key2, key3} {
				if len(key) >= 16 && strings.Contains(err.Error(), key) && !strings.Contains(name1+name2+name3, key) {
					t.Errorf("the error shows a key: %v", err)
				}
			}
			return
		}
		promoted, _ := PrimaryName(next)
		if string(next["2"]) != string(current["2"]) || string(next[promoted]) != string(current["0"]) || len(next["0"]) != encodedLength {
			t.Errorf("accepted %v", staged)
		}
	})
}

func TestTheReplacementIDDependsOnBothKeySets(t *testing.T) {
	one, other := map[string][]byte{"0": []byte("a"), "1": []byte("b")}, map[string][]byte{"0": []byte("c"), "1": []byte("d")}
	id := ReplacementID(one, other)
	if id != ReplacementID(maps.Clone(one), maps.Clone(other)) || len(id) != 12 {
		t.Errorf("the name of a replacement is %q", id)
	}
	for name, another := range map[string]string{
		"back":                     ReplacementID(other, one),
		"by the same keys":         ReplacementID(one, one),
		"from other keys":          ReplacementID(other, other),
		"under other names":        ReplacementID(one, map[string][]byte{"0": []byte("c"), "2": []byte("d")}),
		"with a key of the others": ReplacementID(map[string][]byte{"0": []byte("a")}, map[string][]byte{"1": []byte("b"), "0": []byte("c")}),
	} {
		if another == id {
			t.Errorf("the replacement %s has the same name", name)
		}
	}
}
