package main

import (
	"bytes"
	"fmt"
	"go/doc"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	library = "github.com/c5c3/forge/internal/common"
	// The page has the plan of the library between these two lines.
	plansBegin, plansEnd = "<!-- packages -->\n", "<!-- /packages -->\n"
)

// floor is a group of packages of the library that do not know those of the floors above.
type floor struct {
	title string
	// reaches are packages of which a package of this floor imports one, directly or not.
	reaches []string
}

// floors are the floors from the top to the ground.
var floors = []floor{
	{"Kit: what an API service is made of", []string{library + "/service"}},
	{"Machinery: what the operators of all kinds use", []string{"sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/client-go/rest"}},
	{"Pure: no access to the API server", nil},
}

// room is a package of the library.
type room struct {
	path, doc string
	reaches   []string
}

// rooms returns the packages of the library without its test helpers.
func rooms(root string) ([]room, error) {
	command := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}\t{{.ImportPath}} {{join .Deps \" \"}}", "./internal/common/...")
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", library, err)
	}
	var found []room
	for line := range strings.Lines(string(output)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || strings.Contains(fields[0]+"/", "/testutil/") {
			continue
		}
		if fields[1] == "" {
			return nil, fmt.Errorf("package %s has no package comment: say in it what the package does", fields[0])
		}
		found = append(found, room{path: fields[0], doc: fields[1], reaches: strings.Fields(fields[2])})
	}
	return found, nil
}

// floorOf returns the index of the highest floor whose packages the room reaches.
func floorOf(r room) int {
	return slices.IndexFunc(floors, func(f floor) bool {
		return f.reaches == nil || slices.ContainsFunc(f.reaches, func(path string) bool { return slices.Contains(r.reaches, path) })
	})
}

// writeFloors writes one table for each floor.
func writeFloors(w io.Writer, all []room) {
	for i, f := range floors {
		fmt.Fprintf(w, "\n**%s**\n\n| Package | What it does |\n|---|---|\n", f.title)
		for _, r := range all {
			if floorOf(r) != i {
				continue
			}
			name := strings.TrimPrefix(r.path, library+"/")
			summary := strings.TrimPrefix(new(doc.Package).Synopsis(r.doc), "Package "+filepath.Base(name)+" ")
			fmt.Fprintf(w, "| [`%s`](../internal/common/%s) | %s |\n", name, name, summary)
		}
	}
	fmt.Fprintln(w)
}

// planPackages writes the plan of the library into the page.
func planPackages(root, page string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := bytes.Cut(content, []byte(plansBegin))
	_, after, ended := bytes.Cut(rest, []byte(plansEnd))
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q for the packages of the library", page, plansBegin, plansEnd)
	}
	all, err := rooms(root)
	if err != nil {
		return err
	}
	var plan bytes.Buffer
	writeFloors(&plan, all)
	return os.WriteFile(page, slices.Concat(before, []byte(plansBegin), plan.Bytes(), []byte(plansEnd), after), 0o644)
}
