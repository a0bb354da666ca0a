package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Builder builds image archives of components.
type Builder struct {
	Tools  string // folder of the binaries and of ociimage
	Rootfs string // folder of the root file systems
	Out    string // folder that receives the archives
}

// Archives returns the archives of all components in a fixed order.
func (b Builder) Archives() []string {
	paths := make([]string, 0, len(components))
	for _, c := range components {
		paths = append(paths, b.archive(c))
	}
	return paths
}

func (b Builder) archive(c component) string { return filepath.Join(b.Out, c.name+".tar") }

// Build writes the archives that are missing or older than their inputs, and
// returns the names of the images it built.
func (b Builder) Build(ctx context.Context, set Set) ([]string, error) {
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return nil, err
	}
	// Nothing starts before all inputs exist: an error leaves no build running.
	outdated, recipes, err := b.outdated(set)
	if err != nil {
		return nil, err
	}
	var (
		built []string
		errs  = make([]error, len(outdated))
		wait  sync.WaitGroup
	)
	for i, c := range outdated {
		built = append(built, c.name)
		wait.Go(func() { errs[i] = b.buildOne(ctx, c, recipes[i]) })
	}
	wait.Wait()
	return built, errors.Join(errs...)
}

// outdated returns the components whose archives have to be written, with their recipes.
func (b Builder) outdated(set Set) (outdated []component, recipes [][]string, err error) {
	for _, c := range components {
		args, inputs := b.recipe(c, set)
		fresh, err := upToDate(b.archive(c), strings.Join(args, "\n"), inputs)
		if err != nil {
			return nil, nil, err
		}
		if !fresh {
			outdated, recipes = append(outdated, c), append(recipes, args)
		}
	}
	return outdated, recipes, nil
}

// recipe returns ociimage's arguments for a component, without the output,
// and the files that go into the image.
func (b Builder) recipe(c component, set Set) (args, inputs []string) {
	binary := filepath.Join(b.Tools, c.name)
	inside := "/usr/local/bin/" + c.name
	args = []string{
		// The archives do not leave this machine; compressing them would only cost
		// time.
		"-compress", "none",
		"-name", set.Reference(c.name),
		"-env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"-entrypoint", inside,
		"-file", fmt.Sprintf("%s:%s:0755", binary, inside),
	}
	inputs = []string{binary}
	if c.rootfs != "" {
		layer := filepath.Join(b.Rootfs, c.rootfs)
		args = append(args, "-layer", layer)
		inputs = append(inputs, layer)
	}
	return args, inputs
}

// buildOne builds one archive and records its recipe. The archive is renamed into place,
// so that an interrupted build does not leave an incomplete one.
func (b Builder) buildOne(ctx context.Context, c component, args []string) error {
	archive := b.archive(c)
	partial := archive + ".partial"
	cmd := exec.CommandContext(ctx, filepath.Join(b.Tools, "ociimage"), append(args, "-o", partial)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the image of %s: %w: %s", c.name, err, strings.TrimSpace(string(output)))
	}
	if err := os.Rename(partial, archive); err != nil {
		return err
	}
	return os.WriteFile(archive+".recipe", []byte(strings.Join(args, "\n")), 0o644)
}

// upToDate reports whether an archive was built with this recipe and after all
// of its inputs.
func upToDate(archive, recipe string, inputs []string) (bool, error) {
	made, err := os.ReadFile(archive + ".recipe")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	target, err := os.Stat(archive)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	fresh := err == nil && string(made) == recipe
	for _, input := range inputs {
		source, err := os.Stat(input)
		if err != nil {
			return false, fmt.Errorf("an image needs %s, which is missing: run \"make cluster-up\"", input)
		}
		fresh = fresh && source.ModTime().Before(target.ModTime())
	}
	return fresh, nil
}
