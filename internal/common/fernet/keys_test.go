package fernet

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func generate(t *testing.T, n int) map[string][]byte {
	t.Helper()
	generated, err := Generate(n)
	if err != nil {
		t.Fatal(err)
	}
	return generated
}

func TestGenerateMakesAValidKeySetNumberedFromZero(t *testing.T) {
	for _, n := range []int{3, 4, 11} {
		got := generate(t, n)

		want := make([]string, n)
		for i := range n {
			want[i] = strconv.Itoa(i)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("names of %d keys (-want +got):\n%s", n, diff)
		}
		if err := Validate(got, int32(n)); err != nil {
			t.Errorf("%d keys: %v", n, err)
		}
	}
}

func TestGenerateMakesKeysInFernetFormat(t *testing.T) {
	for name, key := range generate(t, 3) {
		raw, err := base64.URLEncoding.Strict().DecodeString(string(key))
		if err != nil || len(key) != 44 || len(raw) != 32 {
			t.Errorf("key %s has %d characters, %d bytes, error %v, expected 44, 32 and none", name, len(key), len(raw), err)
		}
	}
}

func TestGenerateNeverRepeatsAKey(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		for _, key := range generate(t, 3) {
			if seen[string(key)] {
				t.Fatal("the same key came twice")
			}
			seen[string(key)] = true
		}
	}
}

func TestGenerateRejectsANonPositiveCount(t *testing.T) {
	for _, n := range []int{0, -1} {
		if got, err := Generate(n); err == nil {
			t.Errorf("got %d keys for %d, expected an error", len(got), n)
		}
	}
}

func TestValidateLimitsTheNumberOfKeys(t *testing.T) {
	tests := []struct {
		count     int
		maxActive int32
		valid     bool
	}{
		{0, 3, false},
		{2, 3, false},
		{3, 3, true},
		{4, 3, true},
		{5, 3, false},
		{3, 10, true},
		{11, 10, true},
		{12, 10, false},
		{3, 0, true},
		{4, 1, true},
		{5, -1, false},
	}
	for _, tc := range tests {
		data := map[string][]byte{}
		if tc.count > 0 {
			data = generate(t, tc.count)
		}
		if err := Validate(data, tc.maxActive); (err == nil) != tc.valid {
			t.Errorf("%d keys at most %d active: got error %v, expected valid %t", tc.count, tc.maxActive, err, tc.valid)
		}
	}
}

func TestValidateIgnoresKeyNames(t *testing.T) {
	generated := generate(t, 3)
	data := map[string][]byte{"7": generated["0"], "primary": generated["1"], "-3": generated["2"]}
	if err := Validate(data, 3); err != nil {
		t.Error(err)
	}
}

func TestKeysInUseMustBeNumberedAndHaveAStagedKey(t *testing.T) {
	k := generate(t, 3)
	for want, data := range map[string]map[string][]byte{
		`"primary" is not a number`:   {"0": k["0"], "1": k["1"], "primary": k["2"]},
		`"01" is not a number`:        {"0": k["0"], "1": k["1"], "01": k["2"]},
		`lacks the staged key "0"`:    {"1": k["0"], "2": k["1"], "3": k["2"]},
		`key "2": has 3 characters`:   {"0": k["0"], "1": k["1"], "2": []byte("key")},
		`holds 2 keys, expected at l`: {"0": k["0"], "1": k["1"]},
	} {
		err := ValidateInUse(data)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, expected it to say %s", err, want)
			continue
		}
		expectNoMaterial(t, err, data)
	}
	if err := ValidateInUse(map[string][]byte{"0": k["0"], "4": k["1"], "7": k["2"]}); err != nil {
		t.Errorf("numbers with gaps: %v", err)
	}
}

func TestValidateRefusesAMalformedKeyWithoutShowingIt(t *testing.T) {
	const material = "Zm9yZ2UtdGVzdC1rZXktbWF0ZXJpYWwtMzItYnl0ZXM="
	tests := map[string]struct{ key, want string }{
		"empty":             {"", `key "1": has 0 characters`},
		"too short":         {material[:40], `key "1": has 40 characters`},
		"too long":          {material + "\n", `key "1": has 45 characters`},
		"standard alphabet": {"+" + material[1:], `key "1": is not the URL-safe base64 form of 32 bytes`},
		"slash":             {material[:20] + "/" + material[21:], `key "1": is not the URL-safe base64 form of 32 bytes`},
		"line break inside": {material[:39] + "\n" + material[40:], `key "1": is not the URL-safe base64 form of 32 bytes`},
		"33 bytes":          {material[:43] + "A", `key "1": is not the URL-safe base64 form of 32 bytes`},
		"31 bytes":          {material[:42] + "==", `key "1": is not the URL-safe base64 form of 32 bytes`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data := generate(t, 3)
			data["1"] = []byte(tc.key)
			err := Validate(data, 3)
			if err == nil {
				t.Fatal("expected an error")
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %q, expected it to begin with %q", err, tc.want)
			}
			expectNoMaterial(t, err, data)
		})
	}
}

func TestValidateRefusesADuplicateKey(t *testing.T) {
	data := generate(t, 3)
	data["2"] = slices.Clone(data["0"])
	err := Validate(data, 3)
	if err == nil || !strings.Contains(err.Error(), `keys "0" and "2" are the same`) {
		t.Fatalf("got error %v, expected it to name both keys", err)
	}
	expectNoMaterial(t, err, data)
}

// The last character of a key has two bits that decoding drops, so one key can be
// encoded in four ways.
func TestValidateDetectsADuplicateKeyWithAnotherEncoding(t *testing.T) {
	data := generate(t, 3)
	data["0"] = []byte(strings.Repeat("A", 43) + "=")
	data["1"] = []byte(strings.Repeat("A", 42) + "B=")
	if err := Validate(data, 3); err == nil {
		t.Error("expected the two spellings to count as the same key")
	}
}

// expectNoMaterial fails if any eight characters of a key are in the text.
func expectNoMaterial(t *testing.T, err error, data map[string][]byte) {
	t.Helper()
	for name, key := range data {
		for i := 0; i+8 <= len(key); i++ {
			if strings.Contains(err.Error(), string(key[i:i+8])) {
				t.Fatalf("error %q shows a part of key %s", err, name)
			}
		}
	}
}

func TestNormaliseRaisesToTheMinimum(t *testing.T) {
	for given, want := range map[int32]int32{-5: 3, 0: 3, 2: 3, 3: 3, 4: 4, 100: 100} {
		if got := Normalise(given); got != want {
			t.Errorf("got %d for %d, expected %d", got, given, want)
		}
	}
}

func TestRequiredActiveKeysIsTheFormulaOfKeystone(t *testing.T) {
	const day = 24 * time.Hour
	tests := map[string]struct {
		lifetime, window, period time.Duration
		want                     int
	}{
		"Keystone's defaults, weekly":  {time.Hour, 48 * time.Hour, 7 * day, 3},
		"Keystone's defaults, daily":   {time.Hour, 48 * time.Hour, day, 5},
		"Keystone's defaults, hourly":  {time.Hour, 48 * time.Hour, time.Hour, 51},
		"the FAQ's day, every 6 hours": {day, 0, 6 * time.Hour, 6},
		"exactly one period":           {day, 0, day, 3},
		"a nanosecond more":            {day, time.Nanosecond, day, 4},
		"tokens that never live":       {0, 0, time.Hour, 3},
		"keys that never rotate":       {time.Hour, time.Hour, 0, 3},
		"negative period":              {time.Hour, time.Hour, -time.Hour, 3},
		"negative window":              {2 * time.Hour, -time.Hour, time.Hour, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := RequiredActiveKeys(tc.lifetime, tc.window, tc.period); got != tc.want {
				t.Errorf("got %d, expected %d", got, tc.want)
			}
		})
	}
}

// TestRequiredActiveKeysKeepEveryTokenValid simulates keystone-manage
// fernet_rotate: the staged key becomes primary, a new key is staged, and the
// oldest keys are removed until max_active_keys are left.
func TestRequiredActiveKeysKeepEveryTokenValid(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		lifetime := time.Duration(1+random.IntN(500)) * time.Minute
		period := time.Duration(1+random.IntN(200)) * time.Minute
		limit := RequiredActiveKeys(lifetime, 0, period)

		// The staged key, the primary key, and the secondary ones by age.
		secondaries := limit - 2
		// A token issued just before a rotation is signed with the key that becomes
		// the first secondary key, and moves one position with each further
		// rotation.
		for age := time.Duration(0); age < lifetime; age += period {
			rotations := int(age/period) + 1
			if rotations > secondaries {
				t.Fatalf("lifetime %s, period %s: after %s a key is dropped with %d active keys", lifetime, period, age, limit)
			}
		}
		// With one key fewer it would be dropped, unless that is below the minimum.
		needed := int((lifetime - 1) / period)
		if limit > MinActive && needed < secondaries-1 {
			t.Fatalf("lifetime %s, period %s: %d active keys are more than needed", lifetime, period, limit)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte("Zm9yZ2UtdGVzdC1rZXktbWF0ZXJpYWwtMzItYnl0ZXM="), int32(3))
	f.Add([]byte(strings.Repeat("A", 43)+"="), int32(0))
	f.Add([]byte(strings.Repeat("\n", 44)), int32(-1))
	f.Add([]byte{}, int32(2147483647))
	f.Fuzz(func(t *testing.T, key []byte, maxActive int32) {
		data := map[string][]byte{
			"0": []byte("MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA="),
			"1": []byte("MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTE="),
			"2": key,
		}
		err := Validate(data, maxActive)
		if err != nil {
			if len(key) >= 8 && strings.Contains(err.Error(), string(key)) {
				t.Errorf("error %q shows the key", err)
			}
			return
		}
		raw, decodeErr := base64.URLEncoding.DecodeString(string(key))
		if decodeErr != nil || len(raw) != 32 || len(key) != 44 {
			t.Errorf("accepted a key of %d characters and %d bytes", len(key), len(raw))
		}
	})
}
