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

// maxChunk is the largest part, in bytes, of a body of unknown length.
const maxChunk = 4 << 20

// RequestVariables configure which requests uWSGI accepts. By default a worker waits four
// seconds for a part of a body, and then drops the request without an answer, which is too
// short for a client on a busy node.
//
// An application with large bodies reads those of unknown length itself, with uWSGI's own
// function. For another application uWSGI's router would pass on such a body as if there were
// none, so the request is answered 411, and its connection is closed, because the body follows
// on it.
func RequestVariables(largeBodies bool) []corev1.EnvVar {
	variables := []corev1.EnvVar{
		{Name: "UWSGI_BUFFER_SIZE", Value: strconv.Itoa(MaxRequestHead)},
		{Name: "UWSGI_SOCKET_TIMEOUT", Value: "30"},
	}
	if !largeBodies {
		return append(variables, corev1.EnvVar{
			Name: "UWSGI_ROUTE_IF_NOT", Value: "empty:${HTTP_TRANSFER_ENCODING} break:411 Length Required",
		})
	}
	return append(variables,
		corev1.EnvVar{Name: "UWSGI_HTTP_CHUNKED_INPUT", Value: "true"},
		corev1.EnvVar{Name: "UWSGI_CHUNKED_INPUT_LIMIT", Value: strconv.Itoa(maxChunk)},
		corev1.EnvVar{Name: "UWSGI_CHUNKED_INPUT_TIMEOUT", Value: "30"},
		// The router, too, gives up on a connection on which nothing moves, such as while the
		// application stores what it has received.
		corev1.EnvVar{Name: "UWSGI_HTTP_TIMEOUT", Value: "600"},
	)
}
