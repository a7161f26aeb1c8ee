package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/engine"
	"ndd/engine/copies"
	"ndd/engine/memory"
)

// Addresses that `ndd serve` listens on unless told otherwise.
const (
	DefaultListen = "127.0.0.1:7744"
	DefaultAdmin  = "127.0.0.1:7745"
)

// Options say where and how to serve.
type Options struct {
	Listen string // host:port; port 0 picks a free one
	Admin  string // host:port of the admin listener; "" for none
	PProf  bool   // /debug/pprof/ on the admin listener

	TokenFile      string // lines "token role"; "" lets everybody in
	TLSCert        string // certificate chain in PEM; "" for no TLS. A loopback admin listener has none
	TLSKey         string // its key
	TLSClientCA    string // certificates that sign those which clients need; "": they need none
	InsecureNoAuth bool   // let everybody in although an address is not of this machine alone

	// Load opens or makes the index. It runs while the server already listens, and
	// reports its progress through its argument. The server closes the index.
	Load func(context.Context, *Loading) (*engine.Index, error)

	Inherited map[string]net.Listener // "listen" and "admin": open already, instead of the addresses; may be nil
	Notify    func(state string)      // is told what systemd's notify socket wants to hear; may be nil
	Watchdog  time.Duration           // in which Notify must be told that the server lives; 0 for none

	Disk   *DiskFigures   // of the disk that the index is written to, for the metrics; may be nil
	Budget *memory.Budget // of the index, for the metrics; may be nil
	Folder string         // of the index, for the metrics; "" where it has none

	AccessLog string // file that gets a line of JSON for each request; "-" is standard error, "" is none

	// Copies opens the index to find copies in, at /v1/copies: before the server listens, and again for each value of Reload; it may
	// be nil. The server closes what it returns.
	Copies func(context.Context) (*copies.Index, error)

	Backups string // folder in which /v1/backup makes backups of the index; "": /v1/backup is not served

	ShowFiles bool // documents that were loaded from files of their own are shown to who may read

	Scrub time.Duration // in which all blocks of the index's files are checked, again and again; 0 for never

	Limits Limits // zero fields stand for the defaults

	Version string           // of the program, for /openapi.json
	Threads int              // for one batch; 0 is one for each processor
	Ready   io.Writer        // gets one line when the server is ready
	Log     *slog.Logger     // gets everything else
	Reload  <-chan os.Signal // each value has read again what reload names; may be nil

	started  func(*service) // gets the service, in tests
	notice   func()         // returns when clients have had notice of the end; default after drainNotice
	drainMax time.Duration  // how long what runs may go on after that; default drainMax
}

// Validate refuses addresses that cannot be, and those that would let the
// network in without a token.
func (o *Options) Validate() error {
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if o.TLSClientCA != "" && o.TLSCert == "" {
		return errors.New("--tls-client-ca needs --tls-cert and --tls-key")
	}
	for _, a := range []struct{ flag, address string }{{"--listen", o.Listen}, {"--admin", o.Admin}} {
		if a.address == "" && a.flag == "--admin" {
			continue
		}
		host, _, err := net.SplitHostPort(a.address)
		if err != nil {
			return fmt.Errorf("%s %.80q: must be host:port", a.flag, a.address)
		}
		if !access.IsLoopback(host) && o.TokenFile == "" && o.TLSClientCA == "" && !o.InsecureNoAuth {
			return fmt.Errorf("%s %s: other machines could connect without a token: give --token-file FILE or --tls-client-ca FILE, or --insecure-no-auth to allow that", a.flag, a.address)
		}
	}
	return nil
}
