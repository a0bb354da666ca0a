// Command loadgen sends requests to a Keystone until it is stopped and reports how
// many of them failed.
//
// It logs in, issues and validates tokens and asks for the API's version, on
// connections that it keeps and on fresh ones, and never repeats a request. With
// -service it logs in and asks another service, which validates the tokens. On
// SIGTERM it finishes the requests under way, writes a JSON object with its
// figures to standard output and to -result, and ends with 1 if any failed.
//
// "loadgen stop" stops the one with process ID 1, "loadgen stop -requests=200"
// once it has sent that many.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

type options struct {
	url          string
	service      string
	user         string
	passwordFile string
	result       string
	listen       string
	rate         int
	only         string
	workers      int
	timeout      time.Duration
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) > 0 && args[0] == "stop" {
		return stop(ctx, args[1:], func() error { return syscall.Kill(1, syscall.SIGTERM) })
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	base, service, err := o.addresses()
	if err != nil {
		return err
	}
	l := newLoad(o, base, service)
	server := &http.Server{Addr: o.listen, Handler: l, ReadHeaderTimeout: time.Second}
	listening := make(chan error, 1)
	if o.listen != "" {
		go func() { listening <- server.ListenAndServe() }()
		defer server.Close()
	}
	l.run(ctx)
	select {
	case err := <-listening:
		return err
	default:
	}
	return report(l.result(), o.result, stdout)
}

func parseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" || parsed.Port() == "" {
		return nil, fmt.Errorf("%q must be of the form http://host:port/path", text)
	}
	return parsed, nil
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.StringVar(&o.url, "url", "", "URL of the Identity API, such as http://keystone:5000/v3")
	flags.StringVar(&o.service, "service", "", "URL that a token opens, such as http://placement:8778/resource_providers, to be asked instead")
	flags.StringVar(&o.user, "user", "admin", "user of the default domain with a role on the project admin")
	flags.StringVar(&o.passwordFile, "password-file", "/etc/loadgen/password", "file with the user's password")
	flags.StringVar(&o.result, "result", "", "file that receives the result besides standard output")
	flags.StringVar(&o.listen, "listen", "", "address on which the figures are served; 200 once every kind of request succeeded")
	flags.IntVar(&o.rate, "rate", 20, "requests per second, of all workers together; 0 for as many as are answered")
	flags.StringVar(&o.only, "only", "", "the only kind of request: issue, validate or version; a mix of them by default")
	flags.IntVar(&o.workers, "workers", 8, "workers; every second one uses a fresh connection for each request")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Second, "time a request may take")
	err := flags.Parse(args)
	switch {
	case err != nil:
	case o.rate < 0 || o.workers < 1:
		err = errors.New("-rate must not be negative and -workers must be at least 1")
	case o.only != "" && !slices.Contains(kinds, o.only):
		err = fmt.Errorf("-only %q must be issue, validate or version", o.only)
	}
	return o, err
}

// report writes the result and turns failures into an error.
func report(r result, path string, stdout io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if path != "" {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(stdout, "%s\n", text); err != nil {
		return err
	}
	if r.Failures > 0 || r.Requests == 0 {
		return fmt.Errorf("%d of %d requests failed", r.Failures, r.Requests)
	}
	return nil
}

// load is a run of the workers.
type load struct {
	options  options
	user     *user
	kinds    []string
	workers  []worker
	recorder *recorder
}

// worker has a client of each server.
type worker struct{ identity, service *client }

// addresses returns the URL of the Identity API and that of the service, nil for none.
func (o options) addresses() (base, service *url.URL, err error) {
	if base, err = parseURL(o.url); err != nil {
		return nil, nil, fmt.Errorf("-url: %w", err)
	}
	if o.service == "" {
		return base, nil, nil
	}
	if service, err = parseURL(o.service); err != nil {
		return nil, nil, fmt.Errorf("-service: %w", err)
	}
	return base, service, nil
}

func newLoad(o options, base, service *url.URL) *load {
	l := &load{
		options:  o,
		user:     &user{base: base, service: service, name: o.user, passwordFile: o.passwordFile},
		kinds:    kinds,
		recorder: newRecorder(time.Now()),
	}
	switch {
	case o.only != "":
		l.kinds = []string{o.only}
	case service != nil:
		l.kinds = append([]string{kindIssue}, slices.Repeat([]string{kindService}, len(kinds)-1)...)
	}
	for i := range o.workers {
		l.workers = append(l.workers, newWorker(base, service, i%2 == 0, o.timeout))
	}
	return l
}

func newWorker(base, service *url.URL, keepAlive bool, timeout time.Duration) worker {
	w := worker{identity: &client{address: base.Host, keepAlive: keepAlive, timeout: timeout}}
	if service != nil {
		w.service = &client{address: service.Host, keepAlive: keepAlive, timeout: timeout}
	}
	return w
}

func (w worker) clients() []*client {
	return slices.DeleteFunc([]*client{w.identity, w.service}, func(c *client) bool { return c == nil })
}

func (w worker) close() {
	for _, c := range w.clients() {
		c.close()
	}
}

// kept is the number of connections that were opened to be kept.
func (w worker) kept() (dialed int) {
	for _, c := range w.clients() {
		if c.keepAlive {
			dialed += c.dialed
		}
	}
	return dialed
}

// run sends requests until the context ends. Those under way are finished.
func (l *load) run(ctx context.Context) {
	// Nothing can be validated before the first login.
	if l.turn(l.workers[0], kindIssue, 0); l.user.first == "" {
		return
	}
	var workers sync.WaitGroup
	turns := make(chan int)
	for _, w := range l.workers {
		workers.Go(func() {
			defer w.close()
			for turn := range turns {
				l.turn(w, l.kinds[turn%len(l.kinds)], turn)
			}
		})
	}
	l.hand(ctx, turns)
	close(turns)
	workers.Wait()
}

// hand hands out turns at the rate of the load until the context ends.
func (l *load) hand(ctx context.Context, turns chan<- int) {
	ticks, end := pace(l.options.rate)
	defer end()
	for turn := 0; ctx.Err() == nil; turn++ {
		select {
		case turns <- turn:
		case <-ctx.Done():
		}
		select {
		case <-ticks:
		case <-ctx.Done():
		}
	}
}

// pace returns a channel that limits the requests per second, or does not limit them
// at a rate of 0.
func pace(rate int) (ticks <-chan time.Time, end func()) {
	if rate == 0 {
		open := make(chan time.Time)
		close(open)
		return open, func() {}
	}
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	return ticker.C, ticker.Stop
}

// turn sends one request, whatever happens to the run meanwhile.
func (l *load) turn(w worker, kind string, turn int) {
	c := w.identity
	if kind == kindService {
		c = w.service
	}
	sent := time.Now()
	err := l.user.send(context.Background(), c, kind, turn)
	l.recorder.add(kind, sent, time.Since(sent), c.reused, err)
}

// result may be called while the workers run; the number of connections is
// exact once they are done.
func (l *load) result() result {
	connections := 0
	for _, w := range l.workers {
		connections += w.kept()
	}
	return l.recorder.result(time.Now(), connections)
}

// ServeHTTP serves the current figures.
func (l *load) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if !l.recorder.complete(l.kinds) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(l.recorder.result(time.Now(), 0))
}
