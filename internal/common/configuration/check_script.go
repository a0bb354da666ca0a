package configuration

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
}

// Script returns the content of the check script for the service.
func (c Check) Script(d *service.Definition) string {
	script := config.SetConstant(checkScript, "PROJECT", d.Name)
	script = config.SetConstant(script, "REGISTER", c.Register)
	return config.SetConstant(script, "LISTS", append([]string{loggingOptions}, c.Lists...))
}
