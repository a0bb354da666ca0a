package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKubeletFlagsComeFromKubeadmsFile(t *testing.T) {
	got, err := parseKubeletFlags("KUBELET_KUBEADM_ARGS=\"--node-ip=198.18.64.2 --v=2\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--node-ip=198.18.64.2", "--v=2"}, got); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if _, err := parseKubeletFlags("OTHER=1"); err == nil {
		t.Error("a file without the flags was accepted")
	}
}

func TestAServiceWaitsForItsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	svc := service{needs: []string{os.DevNull, file}}
	if svc.startable() {
		t.Error("startable before its file exists")
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if !svc.startable() {
		t.Error("not startable although its files exist")
	}
}

func TestAServiceThatEndsIsStartedAgain(t *testing.T) {
	dir := t.TempDir()
	starts := make(chan int, 16)
	started := 0
	svc := service{
		name: "short",
		command: func() ([]string, error) {
			started++
			starts <- started
			if started == 3 {
				// Nothing must write to the log's folder when the test ends.
				return nil, errors.New("it has run often enough")
			}
			return []string{"/bin/sh", "-c", "echo ran"}, nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- newSupervisor([]service{svc}, dir).run(ctx) }()
	for start := 0; start < 3; {
		select {
		case start = <-starts:
		case err := <-failed:
			t.Fatalf("the supervisor gave up: %v", err)
		}
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the supervisor ended with %v, want %v", err, context.Canceled)
	}
	// The third start means that the second run has ended and has been reaped.
	log, err := os.ReadFile(filepath.Join(dir, "short.log"))
	if err != nil || strings.Count(string(log), "ran") < 2 {
		t.Errorf("log holds %q, %v, want the output of two runs", log, err)
	}
}
