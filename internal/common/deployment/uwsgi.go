package deployment

import (
	"strconv"

	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// UWSGI is an application served by uWSGI.
type UWSGI struct {
	// Port is the TCP port to listen on.
	Port int32
	// Proxied speaks uWSGI's own protocol instead of HTTP, and only with what runs in the same pod.
	Proxied bool
	// IPv6 listens on IPv6, and on IPv4 where the node has it. Without it uWSGI listens on
	// IPv4 alone.
	IPv6 bool
	// File is the path of the Python file with the WSGI application, Module the module
	// and the name of the application. One of them is empty.
	File, Module string
	// Arguments are the application's own command-line arguments.
	Arguments string
}

// Command returns the command line of the server. A nil spec means the defaults.
func (u UWSGI) Command(spec *commonv1.UWSGISpec) []string {
	if spec == nil {
		spec = &commonv1.UWSGISpec{}
		spec.SetDefaults()
	}
	command := append(u.listen(spec),
		"--log-master",
		"--log-format", "%(method) %(uri) => generated %(rsize) bytes in %(msecs) msecs (%(proto) %(status))",
	)
	if u.File != "" {
		command = append(command, "--wsgi-file", u.File)
	} else {
		command = append(command, "--module", u.Module)
	}
	command = append(command,
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

// listen returns the beginning of the command line, which says where the server listens.
func (u UWSGI) listen(spec *commonv1.UWSGISpec) []string {
	port := ":" + strconv.Itoa(int(u.Port))
	if u.Proxied {
		return []string{"uwsgi", "--socket", "127.0.0.1" + port}
	}
	if u.IPv6 {
		port = "[::]" + port
	}
	command := []string{"uwsgi", "--http", port}
	if ptr.Deref(spec.HTTPKeepAlive, commonv1.DefaultUWSGIHTTPKeepAlive) {
		// uWSGI accepts the idle timeout as the value of this flag.
		flag := "--http-keepalive"
		if spec.HTTPKeepAliveTimeout != nil {
			flag += "=" + strconv.Itoa(int(*spec.HTTPKeepAliveTimeout))
		}
		command = append(command, flag)
	}
	return command
}
