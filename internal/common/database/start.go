package database

import (
	_ "embed"
	"strings"

	"github.com/c5c3/forge/internal/common/service"
)

// StartFile has the name that Python imports at every start.
const StartFile = "sitecustomize.py"

//go:embed files/sitecustomize.py
var startScript string

// StartScript is the content of [StartFile] for an instance. Its connections are encrypted
// where the mode promises that, and wait for what was written through another server where
// the database may be a cluster of them. A server of the user's may be another one than
// MariaDB, which would refuse the variable.
func StartScript(p *service.Pass) string {
	script := startScript
	if RefusesPlainText(p.Spec.Database) {
		script = strings.Replace(script, "\nREQUIRE_TLS = False\n", "\nREQUIRE_TLS = True\n", 1)
	}
	if p.Spec.Database.IsManaged() {
		script = strings.Replace(script, "\nWAIT_FOR_WRITES = False\n", "\nWAIT_FOR_WRITES = True\n", 1)
	}
	return script
}
