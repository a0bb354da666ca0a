// Command bench measures what an operator costs: its memory, its requests to the API
// server and its time, with few resources and with many. See docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/hack/bench/internal/result"
	"github.com/c5c3/forge/hack/bench/internal/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// What becomes of the committed page.
const (
	updateNothing = ""
	// updateCounts leaves alone what depends on the speed of the machine.
	updateCounts = "counts"
	updateAll    = "1"
)

// settings are the parsed flags.
type settings struct {
	scenario.Options
	sizes  []int
	runs   int
	page   string
	update string
	// samples is a file with what another program has measured.
	samples string
}

func parse(args []string) (settings, error) {
	s := settings{}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&s.Root, "root", ".", "Top of the checkout.")
	operator := fs.String("operator", operators.Keystones.Name, "Operator to measure: keystone, c5c3 or openstack.")
	fs.StringVar(&s.Program, "program", "", "Its program.")
	fs.StringVar(&s.Dir, "dir", "", "Folder for logs and profiles.")
	fs.StringVar(&s.page, "page", "docs/performance.md", "Page with the committed results, relative to the top.")
	fs.StringVar(&s.update, "update", updateNothing,
		"1 writes the results to the page, counts only what does not depend on the speed of the machine.")
	fs.StringVar(&s.samples, "samples", "", "File with the samples of another program, to compare in place of measuring.")
	fs.IntVar(&s.runs, "runs", 3, "How often each size is measured.")
	fs.IntVar(&s.Workers, "workers", 2, "How many resources are reconciled at a time, as in the chart.")
	fs.IntVar(&s.PerNamespace, "per-namespace", 10, "How many resources share a namespace. ControlPlanes never do.")
	fs.IntVar(&s.Pods, "pods", 16, "How many Pods a resource has, those of Jobs among them.")
	fs.IntVar(&s.Foreign, "foreign", 10_000, "How many Secrets, and as many Pods, of others there are.")
	fs.BoolVar(&s.Profile, "profile", false, "Store a heap profile after each scenario.")
	sizes := fs.String("sizes", "1,100", "Numbers of resources, separated by commas.")
	scenarios := fs.String("scenarios", "",
		"Names of scenarios, separated by commas; empty for all: "+strings.Join(scenario.Names(operators.Keystones), ",")+".")
	memory := fs.String("memory", "0", "Limit of the operator's memory, such as 128Mi; 0 for none.")
	flags := fs.String("operator-flags", "", "Flags for the operator, separated by spaces.")
	env := fs.String("operator-env", "", "Environment for the operator, separated by spaces, such as GOMEMLIMIT=100MiB.")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	var err error
	if s.Operator, err = operators.Find(*operator); err != nil {
		return s, fmt.Errorf("-operator: %w", err)
	}
	s.Progress = os.Stderr
	s.OperatorFlags, s.OperatorEnv = strings.Fields(*flags), strings.Fields(*env)
	s.Scenarios = strings.FieldsFunc(*scenarios, func(r rune) bool { return r == ',' })
	limit, err := resource.ParseQuantity(*memory)
	if err != nil {
		return s, fmt.Errorf("-memory=%s: %w", *memory, err)
	}
	s.Memory = limit.Value()
	if s.sizes, err = parseSizes(*sizes); err != nil {
		return s, fmt.Errorf("-sizes=%s: %w", *sizes, err)
	}
	return s, s.validate()
}

func parseSizes(text string) (sizes []int, err error) {
	for size := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a positive number", size)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func (s *settings) validate() error {
	switch {
	case s.samples == "" && (s.Program == "" || s.Dir == ""):
		return errors.New("-program and -dir are required")
	case s.runs < 1 || s.Workers < 1 || s.PerNamespace < 1 || s.Pods < 0 || s.Foreign < 0:
		return errors.New("numbers must be positive")
	case s.update != updateNothing && s.update != updateCounts && s.update != updateAll:
		return fmt.Errorf("-update=%s: must be 1 or counts", s.update)
	}
	if unknown := scenario.Unknown(s.Operator, s.Scenarios); unknown != "" {
		return fmt.Errorf("-scenarios: unknown scenario %q for %s", unknown, s.Operator.Plural)
	}
	for _, path := range []*string{&s.Root, &s.Dir, &s.Program} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	s.page = filepath.Join(s.Root, s.page)
	return nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.samples != "" {
		return record(s)
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	// A page that cannot be read is found out before hours of measuring.
	page, err := result.ReadPage(s.page, s.Operator.Name)
	if err != nil {
		return err
	}
	samples := result.Samples{}
	failed := measure(ctx, s, samples)
	table, scenarios := samples.Table(), scenario.Names(s.Operator)
	fmt.Print(table.Compare(page.Table, scenario.Columns(), scenarios))
	if failed != nil || s.update == updateNothing {
		return failed
	}
	return s.write(&page, table, scenario.Columns(), scenarios)
}

// record compares what another program has measured with the page.
func record(s settings) error {
	tables, err := result.ReadRecorded(s.samples)
	if err != nil {
		return err
	}
	for _, recorded := range tables {
		page, err := result.ReadPage(s.page, recorded.Name)
		if err != nil {
			return err
		}
		table := recorded.Table()
		fmt.Print(table.Compare(page.Table, recorded.Columns, recorded.Scenarios))
		if s.update == updateNothing {
			continue
		}
		if err := s.write(&page, table, recorded.Columns, recorded.Scenarios); err != nil {
			return err
		}
	}
	return nil
}

// write adopts new measurements in the page, as the update asks.
func (s settings) write(page *result.Page, fresh result.Table, columns []result.Column, scenarios []string) error {
	page.Table = page.Table.Merge(fresh, columns, s.update == updateAll)
	return page.Write(s.page, columns, scenarios)
}

func measure(ctx context.Context, s settings, samples result.Samples) error {
	for _, size := range s.sizes {
		for i := range s.runs {
			o := s.Options
			o.Dir = filepath.Join(s.Dir, fmt.Sprintf("%d-%d", size, i+1))
			if err := scenario.Do(ctx, o, size, samples); err != nil {
				return fmt.Errorf("run %d with %d %s, logs in %s: %w", i+1, size, o.Operator.Plural, o.Dir, err)
			}
		}
	}
	return nil
}
