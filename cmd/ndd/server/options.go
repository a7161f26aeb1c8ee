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

// Default addresses of `ndd serve`.
const (
	DefaultListen = "127.0.0.1:7744"
	DefaultAdmin  = "127.0.0.1:7745"
)

// socketPrefix begins an address that is the path of a Unix socket.
const socketPrefix = "unix:"

// Options configures a server.
type Options struct {
	Listen string // host:port; port 0 picks a free one
	Admin  string // host:port of the admin listener; "" for none
	Access
	Storage
	Output

	// Load opens or creates the index, and reports its progress. It runs while the server already listens. The server
	// closes the index.
	Load func(context.Context, *LoadProgress) (*engine.Index, error)

	Backups string           // folder for the backups of /v1/backup; "": /v1/backup is not served
	Scrub   time.Duration    // time of one round of the background check of all files of the index; 0 means no check
	Version string           // version of the program, for /openapi.json
	Threads int              // threads of a batch; 0 is one per processor
	Reload  <-chan os.Signal // each value makes the server read its files again; may be nil

	hooks
}

// Access configures the clients that may connect.
type Access struct {
	TokenFile      string // lines "token role"; "" lets everybody in
	TLSCert        string // certificate chain in PEM; "" for no TLS. A loopback admin listener has none
	TLSKey         string // its key
	InsecureNoAuth bool   // let everybody in, even if other machines can reach an address
}

// Storage describes the disk and the memory of the index, for metrics.
type Storage struct {
	Disk   *DiskFigures   // figures of the disk of the index; may be nil
	Budget *memory.Budget // memory of the index; may be nil
	Folder string         // folder of the index; "" if it has none
}

// Output configures the outputs of the server.
type Output struct {
	Ready     io.Writer    // gets one line when the server is ready
	AccessLog io.Writer    // gets a line of JSON for each request; may be nil
	Log       *slog.Logger // gets everything else
}

// hooks are for tests.
type hooks struct {
	started  func(*service) // gets the service
	limit    func(*bounds)  // changes the limits
	notice   func()         // waits until clients have noticed the shutdown; default drainNotice
	drainMax time.Duration  // maximum time of running requests after that; default drainMax
}

// Validate returns an error for an invalid address, and for one that other machines can reach without a token.
func (o *Options) Validate() error {
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key need each other")
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
		if !access.IsLoopback(host) && o.TokenFile == "" && !o.InsecureNoAuth {
			return fmt.Errorf("%s %s: other machines could connect without a token: give --token-file FILE, or "+
				"--insecure-no-auth to allow that", a.flag, a.address)
		}
	}
	return nil
}

// bounds limit the requests of clients. [boundsOf] returns them; only tests use other values.
type bounds struct {
	Connections   int   // maximum number of open connections
	Body          int64 // bytes of a request's body
	Answer        int64 // bytes of the IDs in an answer in JSON; further IDs are counted and left out
	RequestMemory int64 // bytes of all running requests; a client may have a quarter
	// maximum time from the end of the body to the start of the answer; of a batch, its computing time
	Timeout time.Duration
	Queue   time.Duration // maximum wait of a query for a slot; ten times as long for batches and inserts

	times times
}

// times are the time limits of a connection.
type times struct {
	header time.Duration // limit of a header
	body   time.Duration // limit of a small body
	write  time.Duration // limit of a small answer
	idle   time.Duration // between requests
	stall  time.Duration // limit of each stallBytes of a larger body or answer
}

// stallBytes is the part of a larger body or answer that must be sent or read within times.stall.
const stallBytes = 64 << 10

// bodyBytesFirst is the part of a body, and of an answer, that is not counted as memory of requests. Each connection
// has at most one of each.
const bodyBytesFirst = 4 << 10

// bodyBytesMax is the maximum length of a body. Crawlers truncate pages at a few MiB.
const bodyBytesMax = 8 << 20

// answerBytesMax is the maximum length of all ids in an answer.
const answerBytesMax = 16 << 20

// fingerprintsMax is the maximum number of fingerprints in a batch: a body of 512 KiB, about 100 ms of work.
const fingerprintsMax = 1 << 16

// headerBytesMax is the maximum length of a request's header.
const headerBytesMax = 32 << 10

const (
	// requestMemoryMax and requestMemoryMin limit the memory of requests, which is a quarter of the memory limit.
	requestMemoryMax = 512 << 20
	requestMemoryMin = 16 << 20
	// memoryMin is the minimum memory of a server: the program, requests, and 40 MiB for inserts
	// and merges.
	memoryMin = memory.Program + requestMemoryMin*3/2 + 40<<20
	// A body or an answer has at most 1/largestParts of the memory of requests, because processing it takes several
	// times its size.
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

// reserve reserves the memory of requests from a budget, and sets Go's memory limit. It fails if the budget is too
// small for a server. A nil budget has no limit.
func reserve(b *memory.Budget) (requestMemory int64, release func(), err error) {
	limit := b.Limit()
	if limit.Bytes < memoryMin {
		return 0, nil, &memory.TooLargeError{Task: "a server", Need: memoryMin, Limit: limit,
			Advice: "--memory must be at least " + humanize.IBytes(memoryMin)}
	}
	requests := min(requestMemoryMax, limit.Bytes/4)
	reserved, err := b.Reserve("requests", requests)
	if err != nil {
		return 0, nil, err
	}
	// Go's limit excludes memory that Go does not count: mapped tables of merges, and the kernel's buffers of
	// connections.
	if limit.Bytes >= memory.Unlimited.Bytes || os.Getenv("GOMEMLIMIT") != "" {
		return int64(requests), reserved.Release, nil
	}
	before := debug.SetMemoryLimit(int64(limit.Bytes - memory.Program))
	return int64(requests), func() { debug.SetMemoryLimit(before); reserved.Release() }, nil
}

// heavyBytes is the maximum size of the body of a light request. A larger body means about 2 ms of work for a text, or
// 6,000 fingerprints.
const heavyBytes = 48 << 10
