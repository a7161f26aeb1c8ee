package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/server/access"
	"example.org/ndd/engine"
	"example.org/ndd/engine/memory"
)

// Addresses that `ndd serve` listens on unless told otherwise.
const (
	DefaultListen = "127.0.0.1:7744"
	DefaultAdmin  = "127.0.0.1:7745"
)

// socketPrefix begins an address that is the path of a Unix socket.
const socketPrefix = "unix:"

// Options say where and how to serve.
type Options struct {
	Listen string // host:port; port 0 picks a free one
	Admin  string // host:port of the admin listener; "" for none
	PProf  bool   // /debug/pprof/ on the admin listener
	Access
	Process
	Storage
	Output

	// Load opens or makes the index. It runs while the server already listens, and
	// reports its progress through its argument. The server closes the index.
	Load func(context.Context, *LoadProgress) (*engine.Index, error)

	Backups string        // folder for the backups of /v1/backup; "": /v1/backup is not served
	Scrub   time.Duration // time of one check of all blocks of the index's files, again and again; 0 for never
	Version string        // version of the program, for /openapi.json
	Threads int           // threads of a batch; 0 is one per processor

	hooks
}

// Access is who may connect.
type Access struct {
	TokenFile      string // lines "token role"; "" lets everybody in
	TLSCert        string // certificate chain in PEM; "" for no TLS. A loopback admin listener has none
	TLSKey         string // its key
	TLSClientCA    string // certificates that sign those which clients need; "": they need none
	InsecureNoAuth bool   // let everybody in although an address is not of this machine alone
}

// Process is how the server works with the system that runs it.
type Process struct {
	Inherited map[string]net.Listener // "listen" and "admin": open already, instead of the addresses; may be nil
	Notify    func(state string)      // receives messages for systemd's notify socket; may be nil
	Watchdog  time.Duration           // maximum time between two calls of Notify; 0 means any
	Reload    <-chan os.Signal        // each value reloads the files that reload names; may be nil
}

// Storage is the disk and the memory of the index, for metrics.
type Storage struct {
	Disk   *DiskFigures   // figures of the disk of the index; may be nil
	Budget *memory.Budget // memory of the index; may be nil
	Folder string         // folder of the index; "" if it has none
}

// Output is where the server writes to.
type Output struct {
	Ready     io.Writer    // gets one line when the server is ready
	AccessLog string       // file that gets a line of JSON for each request; "-" is standard error, "" is none
	Log       *slog.Logger // gets everything else
}

// hooks are for tests.
type hooks struct {
	started  func(*service) // gets the service
	limit    func(*bounds)  // changes the limits
	notice   func()         // returns when clients have had notice of the end; default after drainNotice
	drainMax time.Duration  // how long running requests may take after that; default drainMax
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
		if strings.HasPrefix(a.address, socketPrefix) {
			continue
		}
		host, _, err := net.SplitHostPort(a.address)
		if err != nil {
			return fmt.Errorf("%s %.80q: must be host:port or unix:PATH", a.flag, a.address)
		}
		if !access.IsLoopback(host) && o.TokenFile == "" && o.TLSClientCA == "" && !o.InsecureNoAuth {
			return fmt.Errorf("%s %s: other machines could connect without a token: give --token-file FILE or "+
				"--tls-client-ca FILE, or --insecure-no-auth to allow that", a.flag, a.address)
		}
	}
	return nil
}

// bounds limit clients. [boundsOf] returns them; only tests use others.
type bounds struct {
	Connections   int   // open at a time
	Body          int64 // bytes of a request's body
	Answer        int64 // bytes of the ids in an answer in JSON; the rest is counted and left out
	RequestMemory int64 // bytes of all requests under way; one client may have a quarter
	// time of a request from the end of its body to the beginning of its answer; of a batch, the time of its work
	Timeout time.Duration
	Queue   time.Duration // maximum wait of a query for a slot; ten times as long for batches and inserts

	times times
}

// times are the limits of a connection.
type times struct {
	header time.Duration // for a header
	body   time.Duration // for a small body
	write  time.Duration // for a small answer
	idle   time.Duration // between requests
	stall  time.Duration // for each stallBytes of a larger body or answer
}

// stallBytes must be sent or read within times.stall if a body or an answer is larger than that.
const stallBytes = 64 << 10

// bodyBytesFirst of a body, and of an answer, are not counted among the memory of requests: each
// connection has at most one of each.
const bodyBytesFirst = 4 << 10

// bodyBytesMax is the longest body: pages are cut off by crawlers at a few MiB.
const bodyBytesMax = 8 << 20

// answerBytesMax is the maximum length of all ids in an answer.
const answerBytesMax = 16 << 20

// fingerprintsMax is the largest batch: 512 KiB of body, some 100 ms of work.
const fingerprintsMax = 1 << 16

// headerBytesMax is the longest header of a request.
const headerBytesMax = 32 << 10

const (
	// requestMemoryMax and requestMemoryMin bound the memory of requests, a quarter of the memory
	// limit.
	requestMemoryMax = 512 << 20
	requestMemoryMin = 16 << 20
	// memoryMin is the minimum memory of a server: the program, requests, and 40 MiB for inserts
	// and merges.
	memoryMin = memory.Program + requestMemoryMin*3/2 + 40<<20
	// largestParts is the part of the memory of requests that a body or an answer may have at most,
	// because working on it takes several times its size.
	largestParts = 8
)

// boundsOf returns the bounds of a server for the memory of its requests, in bytes. With little memory, bodies and
// answers are shorter, too.
func boundsOf(requestMemory int64) bounds {
	part := requestMemory / largestParts
	return bounds{
		Connections: 4096, Body: min(bodyBytesMax, part), Answer: min(answerBytesMax, part),
		RequestMemory: requestMemory, Timeout: 60 * time.Second, Queue: 100 * time.Millisecond,
		times: times{header: 5 * time.Second, body: 30 * time.Second, write: 60 * time.Second, idle: 120 * time.Second,
			stall: 5 * time.Second},
	}
}

// reserve takes the memory of requests and of the program's garbage from a budget, and sets Go's
// memory limit. The error is one of a budget that is too small to serve with. A nil budget has no
// limit.
func reserve(b *memory.Budget) (requestMemory int64, release func(), err error) {
	limit := b.Limit()
	if limit.Bytes < memoryMin {
		return 0, nil, &memory.TooLargeError{What: "a server", Need: memoryMin, Limit: limit,
			Advice: "--memory must be at least " + humanize.IBytes(memoryMin)}
	}
	requests := min(requestMemoryMax, limit.Bytes/4)
	reserved, err := b.Reserve("requests", requests)
	if err != nil {
		return 0, nil, err
	}
	// The rest is for what Go does not count: mapped tables of merges, the kernel's buffers of
	// connections.
	if limit.Bytes >= memory.Unlimited.Bytes || os.Getenv("GOMEMLIMIT") != "" {
		return int64(requests), reserved.Release, nil
	}
	before := debug.SetMemoryLimit(int64(limit.Bytes - memory.Program))
	return int64(requests), func() { debug.SetMemoryLimit(before); reserved.Release() }, nil
}

// heavyBytes is the length of a body beyond which its request is heavy: about 2 ms of work for a
// text, or 6,000 fingerprints.
const heavyBytes = 48 << 10
