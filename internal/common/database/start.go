package database

import (
	_ "embed"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
)

// StartFile has the name that Python imports at every start.
const StartFile = "sitecustomize.py"

//go:embed files/sitecustomize.py
var startScript string

// StartScript is the content of [StartFile] for an instance. Its connections are encrypted
// where the mode promises that, and wait for what was written through another server where
// the database may be a cluster of them. A server of the user's may be another one than
// MariaDB, which would refuse the variable. The modules do what else the service needs at a
// start.
func (d Database) StartScript(p *service.Pass, modules ...string) string {
	script := config.SetConstant(startScript, "VARIABLE", d.Variable())
	script = config.SetConstant(script, "REQUIRE_TLS", RefusesPlainText(p.Spec.Database))
	script = config.SetConstant(script, "WAIT_FOR_WRITES", p.Spec.Database.IsManaged())
	return config.SetConstant(script, "MODULES", append([]string{}, modules...))
}
