package server

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// checkOrigin turns away what a web browser was talked into.
//
// DNS rebinding: a page of evil.example makes that name mean 127.0.0.1; the
// browser then sends us its requests and shows the page our answers, but with
// Host: evil.example. A server for this machine alone answers only to names
// of this machine.
//
// Cross-site requests: a page of anywhere may send, if not read. Browsers say
// where such a request comes from; others than browsers say nothing.
func checkOrigin(next http.Handler, local bool) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !isLoopback(hostName(r.Host)) {
			refusal(http.StatusMisdirectedRequest, fmt.Sprintf("header Host: %.80q is not a name of this machine for itself, such as localhost", r.Host)).write(w)
			return
		}
		if err := origin.Check(r); err != nil {
			refusal(http.StatusForbidden, "header Origin: requests of other web sites are not answered").write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName returns a Host header without its port, and without the brackets of
// IPv6. The port may be another than ours: of a tunnel.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
