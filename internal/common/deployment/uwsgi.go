package deployment

import (
	"strconv"

	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// UWSGI is an application that uWSGI serves.
type UWSGI struct {
	// Port is the TCP port to listen on.
	Port int32
	// File is the path of the Python file with the WSGI application.
	File string
	// Arguments are those of the application's own command line.
	Arguments string
}

// Command is the command line of the server. Without a spec the defaults apply.
func (u UWSGI) Command(spec *commonv1.UWSGISpec) []string {
	if spec == nil {
		spec = &commonv1.UWSGISpec{}
		spec.SetDefaults()
	}
	command := []string{"uwsgi", "--http", ":" + strconv.Itoa(int(u.Port))}
	if ptr.Deref(spec.HTTPKeepAlive, commonv1.DefaultUWSGIHTTPKeepAlive) {
		// uWSGI takes the idle timeout as the value of the flag itself.
		flag := "--http-keepalive"
		if spec.HTTPKeepAliveTimeout != nil {
			flag += "=" + strconv.Itoa(int(*spec.HTTPKeepAliveTimeout))
		}
		command = append(command, flag)
	}
	command = append(command,
		"--log-master",
		"--log-format", "%(method) %(uri) => generated %(rsize) bytes in %(msecs) msecs (%(proto) %(status))",
		"--wsgi-file", u.File,
		"--master", "--lazy-apps", "--need-app",
		"--processes", strconv.Itoa(int(spec.Processes)),
		"--threads", strconv.Itoa(int(spec.Threads)),
		"--pyargv="+u.Arguments,
	)
	if spec.Harakiri != nil {
		command = append(command, "--harakiri", strconv.Itoa(int(*spec.Harakiri)))
	}
	return command
}
