package database

import (
	_ "embed"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
)

// StartFile is the name of the module that Python imports at every start.
const StartFile = "sitecustomize.py"

//go:embed files/sitecustomize.py
var startScript string

// StartScript returns the content of [StartFile] for an instance. It enforces encrypted
// connections if the mode requires them. If the database may be a Galera cluster, each
// connection waits for writes made through other nodes. An external server may not be
// MariaDB and would reject that variable. The modules are imported for what else the
// service needs at a start.
func (d Database) StartScript(p *service.Pass, modules ...string) string {
	script := config.SetConstant(startScript, "VARIABLE", d.Variable())
	script = config.SetConstant(script, "REQUIRE_TLS", RefusesPlainText(p.Data.Database))
	script = config.SetConstant(script, "WAIT_FOR_WRITES", p.Data.Database.IsManaged())
	return config.SetConstant(script, "MODULES", append([]string{}, modules...))
}
