// Package access says who may use the server: bearer tokens and client certificates, their roles,
// and requests that a web browser was talked into.
//
//	request ──► Host, Origin (CheckOrigin) ──► token or certificate ──► role (Keyring.Authorize) ──► what the role may do
//
// A file has lines "TOKEN ROLE", and "cn:NAME ROLE" for names of client certificates. The roles are
// metrics, read, write and admin; "loopback metrics" lets programs of this machine read metrics
// without a token. Tokens are stored as hashes and compared in constant time.
package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// A Role says what a client may do. Each includes those before it, but only Metrics and Admin may
// read metrics.
type Role int

// The roles.
const (
	Anyone  Role = iota // needs neither token nor certificate
	Metrics             // may read metrics, and nothing else
	Read
	Write
	Admin
)

var roleNames = [...]string{"anyone", "metrics", "read", "write", "admin"}

// String returns the role's name in token files and in answers.
func (r Role) String() string { return roleNames[r] }

// parseRole returns the role of a line of a token file.
func parseRole(name string) (Role, error) {
	for r := Metrics; r <= Admin; r++ {
		if name == r.String() {
			return r, nil
		}
	}
	return Anyone, fmt.Errorf("the role must be metrics, read, write or admin")
}

// CheckOrigin returns a function that turns away what a web browser was talked into: an error for a
// request that must not be answered, of status 421 or 403.
//
// DNS rebinding: a page of evil.example makes that name mean 127.0.0.1; the
// browser then sends us its requests and shows the page our answers, but with
// Host: evil.example. A server for this machine alone (local) answers only to names
// of this machine.
//
// Cross-site requests: a page of anywhere may send, if not read. Browsers say
// where such a request comes from; others than browsers say nothing.
func CheckOrigin(local bool) func(*http.Request) *Refusal {
	origin := http.NewCrossOriginProtection()
	return func(r *http.Request) *Refusal {
		if local && !IsLoopback(hostName(r.Host)) {
			return &Refusal{http.StatusMisdirectedRequest, fmt.Sprintf("header Host: %.80q is not a name of this machine for "+
				"itself: a proxy sends Host: localhost, and a server that listens on another address takes any", r.Host)}
		}
		if origin.Check(r) != nil {
			return &Refusal{http.StatusForbidden, "header Origin: requests of other web sites are not answered"}
		}
		return nil
	}
}

// hostName returns a Host header without its port, and without the brackets of
// IPv6. The port may be another than ours: of a tunnel.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// IsLoopback says whether only this machine can reach a name or address. Of names only
// localhost counts: others may resolve to anything.
func IsLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
