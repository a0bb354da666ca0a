// Package image inspects the image of a service before pods rely on it: how it serves the
// API, and which release of the service it contains.
package image

import (
	_ "embed"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
)

// CheckFile is the name, among the configuration files, of the Python script that looks
// into the image.
const CheckFile = "image_check.py"

// Container is the name of the init container that runs it.
const Container = "image-check"

// Unfit is the exit code for an image that lacks something or holds another release than
// is required.
const Unfit int32 = 69

//go:embed files/image_check.py
var checkScript string

// Script returns the content of [CheckFile] for the service.
func Script(d *service.Definition) string {
	script := config.SetConstant(checkScript, "DISTRIBUTION", d.Application.Distribution)
	script = config.SetConstant(script, "SCRIPT", d.Application.Script)
	script = config.SetConstant(script, "MODULE", d.Application.Module)
	script = config.SetConstant(script, "PROGRAMS", []string{"uwsgi", d.CodeName + "-manage"})
	return config.SetConstant(script, "LIBRARIES", []string{"pymysql"})
}

// Check returns the container that looks into the image of the spec. It fails if the image
// holds another major version of the service than the one given; zero accepts any.
func Check(p *service.Pass, major int) corev1.Container {
	command := []string{"python3", "-I", path.Join(p.ConfigDir, CheckFile)}
	if major > 0 {
		command = append(command, strconv.Itoa(major))
	}
	return corev1.Container{Name: Container, Image: p.Spec.Image.Reference(), Command: command}
}
