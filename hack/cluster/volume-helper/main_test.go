package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAVolumeIsWritableForEveryoneAndGoesWithItsContents(t *testing.T) {
	volume := filepath.Join(t.TempDir(), "pvc")
	for range 2 { // the provisioner may ask again
		if err := run("create", volume); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(volume)
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("volume has mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(volume, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := run("delete", volume); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(volume); !os.IsNotExist(err) {
		t.Errorf("the volume is still there: %v", err)
	}
}

func TestAnUnknownActionTouchesNothing(t *testing.T) {
	volume := t.TempDir()
	if err := run("format", volume); err == nil {
		t.Error("an unknown action was accepted")
	}
	if _, err := os.Stat(volume); err != nil {
		t.Error(err)
	}
}
