// Package access decides who may use the server, by bearer tokens. It also refuses requests that a web site makes a
// browser send.
//
//	request ──► Host, Origin (CheckOrigin) ──► token ──► role (Keyring.Authorize) ──► what the role may do
//
// A file has lines "TOKEN ROLE". The roles are metrics, read, write and admin. Tokens are stored as hashes and compared
// in constant time.
package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// A Role is the set of rights of a client. Each role includes the earlier ones, except that only Metrics and Admin
// may read metrics.
type Role int

// The roles.
const (
	Anyone  Role = iota // needs no token
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

// CheckOrigin returns a function that refuses requests that a web site makes a browser send, with status 421 or 403.
//
// DNS rebinding: a page of evil.example changes the address of that name to 127.0.0.1. The browser then sends
// requests with Host: evil.example to this server, and the page can read the answers. If only this machine can reach
// the server (local), it answers only requests for names of this machine.
//
// Cross-site requests: a page of any site can send requests, although it cannot read the answers. Browsers name the
// site in a header; other clients do not.
func CheckOrigin(local bool) func(*http.Request) *Refusal {
	origin := http.NewCrossOriginProtection()
	return func(r *http.Request) *Refusal {
		if local && !IsLoopback(hostName(r.Host)) {
			return &Refusal{http.StatusMisdirectedRequest, fmt.Sprintf("header Host: %.80q does not name this machine: "+
				"a proxy must send Host: localhost, or the server must listen on another address", r.Host)}
		}
		if origin.Check(r) != nil {
			return &Refusal{http.StatusForbidden, "header Origin: requests of other web sites are not answered"}
		}
		return nil
	}
}

// hostName returns a Host header without its port and without the brackets of IPv6. The port may be that of a tunnel.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// IsLoopback reports whether only this machine can reach a name or address. The only such name is localhost, because
// others may resolve to any address.
func IsLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
