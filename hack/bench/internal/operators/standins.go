package operators

import "github.com/c5c3/forge/internal/common/testutil/standin"

// Standins are the stand-ins that can be made to fail, or are asked for what they have
// made. An operator needs some of them.
type Standins struct {
	Jobs    *standin.Jobs
	Secrets *standin.ExternalSecrets
	MariaDB *standin.MariaDB
	KORC    *standin.KORC
}

// NewStandins returns stand-ins that succeed in everything.
func NewStandins() *Standins {
	return &Standins{
		Jobs: standin.NewJobs(), Secrets: standin.NewExternalSecrets(), MariaDB: standin.NewMariaDB(), KORC: standin.NewKORC(),
	}
}
