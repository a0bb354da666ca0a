package deployment

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// MaxRequestHead is the size in bytes of uWSGI's buffer for the request line and the headers
// of a request, with the variables that it adds. No larger one is possible, since the size
// in uWSGI's own protocol has 16 bits. With the default of 4096, the claims of a federated
// login with many groups do not fit, and uWSGI drops the connection without an answer.
const MaxRequestHead = 65535

// RequestVariables configure which requests uWSGI accepts. Its router passes on a body of
// unknown length as if there were none, so such a request is answered 411, and its
// connection is closed, because the body follows on it. By default a worker waits four
// seconds for a part of a body, and then drops the request without an answer, which is too
// short for a client on a busy node.
func RequestVariables() []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "UWSGI_BUFFER_SIZE", Value: strconv.Itoa(MaxRequestHead)},
		{Name: "UWSGI_SOCKET_TIMEOUT", Value: "30"},
		{Name: "UWSGI_ROUTE_IF_NOT", Value: "empty:${HTTP_TRANSFER_ENCODING} break:411 Length Required"},
	}
}
