package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

var numericUser = regexp.MustCompile(`^[0-9]+(:[0-9]+)?$`)

// imageSpec is the content of an image.
type imageSpec struct {
	names       []string
	combine     []string
	layers      []string
	files       []file
	env         []string
	entrypoint  []string
	cmd         []string
	labels      map[string]string
	user        string
	workdir     string
	arch        string
	compression string
}

func (s imageSpec) validate() error {
	if err := s.validateNames(); err != nil {
		return err
	}
	if err := s.validateContent(); err != nil {
		return err
	}
	for _, e := range s.env {
		if key, _, ok := strings.Cut(e, "="); !ok || key == "" {
			return fmt.Errorf("environment entry %q must have the form NAME=value", e)
		}
	}
	if s.user != "" && !numericUser.MatchString(s.user) {
		return fmt.Errorf("user %q must be numeric, as in 65532:65532", s.user)
	}
	return nil
}

func (s imageSpec) validateNames() error {
	if len(s.names) == 0 {
		return errors.New("no image name: give at least one with -name")
	}
	for _, n := range s.names {
		// Container runtimes look an image up by its exact full name, so
		// that a shortened one would never be found.
		if _, err := name.NewTag(n, name.StrictValidation); err != nil {
			return fmt.Errorf("image name %q must be a full reference such as docker.io/library/mariadb:10.11: %w", n, err)
		}
	}
	return nil
}

func (s imageSpec) validateContent() error {
	switch content := len(s.layers) + len(s.files); {
	case len(s.combine) > 0 && content > 0:
		return errors.New("-combine uses the content of the archives: omit -layer and -file")
	case len(s.combine)+content == 0:
		return errors.New("an image without content: add -layer or -file")
	case !slices.Contains([]string{compressZstd, compressGzip, compressNone}, s.compression):
		return fmt.Errorf("unknown compression %q: use zstd, gzip or none", s.compression)
	}
	return nil
}

// buildImage turns a valid spec into an image of OCI media types.
func buildImage(spec imageSpec) (v1.Image, error) {
	img, err := spec.layered()
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read image config: %w", err)
	}
	config = config.DeepCopy()
	config.OS = "linux"
	config.Architecture = spec.arch
	config.Created = v1.Time{Time: epoch}
	config.Config = spec.config()
	return mutate.ConfigFile(img, config)
}

// layered returns an image that has only the layers.
func (s imageSpec) layered() (v1.Image, error) {
	layers, err := s.buildLayers()
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	history := v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "ociimage"}
	for _, layer := range layers {
		if img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return nil, fmt.Errorf("append layer: %w", err)
		}
	}
	return img, nil
}

// config returns how a container of the image starts.
func (s imageSpec) config() v1.Config {
	return v1.Config{
		User:       s.user,
		Env:        s.env,
		Entrypoint: s.entrypoint,
		Cmd:        s.cmd,
		WorkingDir: s.workdir,
		Labels:     maps.Clone(s.labels),
	}
}

func (s imageSpec) buildLayers() ([]v1.Layer, error) {
	layers := make([]v1.Layer, 0, len(s.layers)+1)
	for _, tarball := range s.layers {
		layer, err := layerFromTar(tarball, s.compression)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if len(s.files) == 0 {
		return layers, nil
	}
	layer, err := layerFromFiles(s.files, s.compression)
	if err != nil {
		return nil, err
	}
	return append(layers, layer), nil
}
