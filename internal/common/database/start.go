package database

import (
	_ "embed"
	"maps"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
)

// StartFile is the name of the module that Python imports at every start.
const StartFile = "sitecustomize.py"

// Modules are Python modules of a service, next to [StartFile].
type Modules struct {
	// Start are imported at every start, in their order.
	Start []string
	// Corrections are by the module of the image that each corrects: its function correct gets
	// that when it has been imported. Nothing happens in a program that does not import it.
	Corrections map[string]string
}

//go:embed files/sitecustomize.py
var startScript string

// StartScript returns the content of [StartFile] for an instance. It enforces encrypted
// connections if the mode requires them. If the database may be a Galera cluster, each
// connection waits for writes made through other nodes. An external server may not be
// MariaDB and would reject that variable.
func (d Database) StartScript(p *service.Pass, modules Modules) string {
	script := config.SetConstant(startScript, "VARIABLE", d.Variable())
	script = config.SetConstant(script, "REQUIRE_TLS", RefusesPlainText(p.Data.Database))
	script = config.SetConstant(script, "WAIT_FOR_WRITES", p.Data.Database.IsManaged())
	script = config.SetConstant(script, "MODULES", append([]string{}, modules.Start...))
	return config.SetConstant(script, "CORRECTIONS", maps.Collect(maps.All(modules.Corrections)))
}
