package command

import (
	"errors"
	"strings"
)

// Usage lists the commands.
const Usage = `bao talks to the stand-in for OpenBao.

  status                                     whether it is sealed (exit code 2)
  operator init [-key-shares=N] [-key-threshold=N]
  operator seal
  operator unseal [KEY]                      without a key: with those of this pod
  secrets list
  secrets enable [-path=PATH] [-version=2] [-max-lease-ttl=T] TYPE
  secrets tune [-max-lease-ttl=T] PATH
  auth list
  auth enable [-path=PATH] TYPE
  policy list
  policy read NAME
  policy write NAME FILE                     - is standard input
  policy delete NAME
  read [-field=NAME] PATH
  write PATH DATA...
  list PATH
  delete PATH

  kv get [-field=NAME] [-version=N] PATH     the data at a path such as kv-v2/a/b
  kv put [-cas=N] PATH DATA...
  kv list PATH                               the names below a path
  kv delete PATH                             delete the current version
  kv metadata get PATH
  kv metadata put -custom-metadata=K=V PATH
  kv metadata delete PATH                    delete all versions

DATA is KEY=VALUE, KEY=@FILE, KEY=- for standard input, or - alone for a JSON
object on standard input. With -mount=kv-v2 the path of a kv command is
relative to the mount. -format=json prints the whole response.

Commands that OpenBao does not have:

  stand-in empty [PREFIX]                    delete everything below PREFIX
  stand-in fault [-delay=D] [-status=N] PREFIX
                                             make requests below PREFIX slow,
                                             or fail; without options they
                                             work again
`

// errUsage reports that the command line names no command.
var errUsage = errors.New("unknown command or wrong arguments\n\n" + strings.TrimSpace(Usage))
