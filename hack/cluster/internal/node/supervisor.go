package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// pollInterval is the interval for checking a service that cannot start yet.
	pollInterval = 100 * time.Millisecond
	// A service that exits is restarted after minRestart, which doubles up
	// to maxRestart while it keeps exiting within stableAfter.
	minRestart  = 500 * time.Millisecond
	maxRestart  = 10 * time.Second
	stableAfter = 30 * time.Second
)

// supervisor starts services, restarts them when they exit, and reaps
// every orphaned process of the node, since it is process 1.
type supervisor struct {
	services []service
	logDir   string

	// mu is held while a process is started and while ended ones are reaped,
	// so that none ends between its start and its entry in exits.
	mu    sync.Mutex
	exits map[int]chan syscall.WaitStatus
}

func newSupervisor(services []service, logDir string) *supervisor {
	return &supervisor{services: services, logDir: logDir, exits: map[int]chan syscall.WaitStatus{}}
}

// run returns only with an error, at the latest when the context ends.
func (s *supervisor) run(ctx context.Context) error {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	// A stray signal must not end the node. They are caught rather than ignored:
	// what a process ignores, every program it starts ignores as well, down to
	// the pods' containers.
	stray := make(chan os.Signal, 1)
	signal.Notify(stray, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	for _, svc := range s.services {
		go s.keepRunning(ctx, svc)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-children:
			if err := s.reap(); err != nil {
				return err
			}
		}
	}
}

// reap collects every child that has exited and delivers the exit status of services.
func (s *supervisor) reap() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD) || err == nil && pid == 0:
			return nil
		case err != nil:
			return fmt.Errorf("waiting for child processes: %w", err)
		}
		if exit, ours := s.exits[pid]; ours {
			delete(s.exits, pid)
			exit <- status
		}
	}
}

// keepRunning runs a service again and again, with a growing delay while it keeps exiting
// early.
func (s *supervisor) keepRunning(ctx context.Context, svc service) {
	delay := minRestart
	for ctx.Err() == nil {
		for !svc.startable() {
			time.Sleep(pollInterval)
		}
		began := time.Now()
		outcome, err := s.runOnce(svc)
		if err != nil {
			outcome = err.Error()
		}
		if time.Since(began) >= stableAfter {
			delay = minRestart
		}
		fmt.Printf("%s %s: %s; starting it again in %s\n", time.Now().UTC().Format(time.RFC3339), svc.name, outcome, delay)
		time.Sleep(delay)
		delay = min(2*delay, maxRestart)
	}
}

// runOnce runs the service once and describes how it exited.
func (s *supervisor) runOnce(svc service) (string, error) {
	command, err := svc.command()
	if err != nil {
		return "", err
	}
	exit, err := s.start(svc.name, command)
	if err != nil {
		return "", err
	}
	status := <-exit
	if status.Signaled() {
		return "ended by signal " + status.Signal().String(), nil
	}
	return fmt.Sprintf("ended with exit code %d", status.ExitStatus()), nil
}

// start starts the program with its output in the service's log. The channel receives its
// exit status.
func (s *supervisor) start(name string, command []string) (<-chan syscall.WaitStatus, error) {
	logFile, err := os.OpenFile(filepath.Join(s.logDir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()

	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := syscall.ForkExec(command[0], command, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{searchPath, "HOME=/root"},
		Files: []uintptr{null.Fd(), logFile.Fd(), logFile.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	exit := make(chan syscall.WaitStatus, 1)
	s.exits[pid] = exit
	return exit, nil
}
