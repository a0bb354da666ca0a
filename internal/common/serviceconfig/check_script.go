package serviceconfig

import (
	_ "embed"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
)

// CheckFile is the name, among the configuration files, of the Python script that reads
// the configuration in the image.
const CheckFile = "config_check.py"

// loggingOptions lists the options of oslo.log, which every OpenStack service uses and
// registers only when it starts.
const loggingOptions = "oslo_log._options:list_opts"

//go:embed files/config_check.py
var checkScript string

// Check declares how the image reads the configuration. Python functions are given as
// "module:function".
type Check struct {
	// Register is the function that registers the service's options with the oslo.config
	// object it is given. It is empty if the service only lists its options.
	Register string
	// Lists are functions that return the options of libraries that the service uses, or
	// its own, like those behind oslo.config's entry points oslo.config.opts. Those of
	// oslo.log are always read.
	Lists []string
	// Drivers are options whose values are names of plugins.
	Drivers []Driver
	// Variants are options that list plugins, each of which may choose a variant in an
	// option of its own name and the same section.
	Variants []Driver
}

// Driver is an option that names plugins of the image.
type Driver struct {
	Section, Option string
	// Group is the group of Python entry points of the plugins. For variants it is the
	// beginning of its name, which ends with that of the plugin.
	Group string
}

func literals(drivers []Driver) [][]string {
	all := make([][]string, 0, len(drivers))
	for _, d := range drivers {
		all = append(all, []string{d.Section, d.Option, d.Group})
	}
	return all
}

// Script returns the content of the check script for the service.
func (c Check) Script(d *service.Definition) string {
	script := config.SetConstant(checkScript, "PROJECT", d.CodeName)
	script = config.SetConstant(script, "REGISTER", c.Register)
	script = config.SetConstant(script, "DRIVERS", literals(c.Drivers))
	script = config.SetConstant(script, "VARIANTS", literals(c.Variants))
	return config.SetConstant(script, "LISTS", append([]string{loggingOptions}, c.Lists...))
}
