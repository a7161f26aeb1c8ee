package server

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Limits bound what clients may have of the server. The zero value of a field stands for its default, which
// [DefaultLimits] returns. Each has a flag of `ndd serve`, which errors name.
type Limits struct {
	Connections   int           // --max-connections: open at a time; those of health and administration have room of their own
	Body          int64         // --max-body: bytes of a request's body
	Documents     int           // --max-documents: a request
	Fingerprints  int           // --max-fingerprints: a request of /v1/batch
	Answer        int64         // --max-answer: bytes of the ids in an answer in JSON; what is beyond is left out, and told
	RequestMemory int64         // --request-memory: bytes of all bodies and answers under way beyond 4 KiB of each; one client may have a quarter
	Timeout       time.Duration // --timeout: of a request, from its body's end to its answer's beginning; of a batch, its work
	Queue         time.Duration // --max-queue: that a query waits, at most

	times times
}

// times are the limits of a connection, which have no flags.
type times struct {
	header time.Duration // until a header is there
	body   time.Duration // until a small body is there
	write  time.Duration // until a small answer is gone
	idle   time.Duration // between requests
	stall  time.Duration // in which a larger body or answer must go on by stallBytes
}

// stallBytes must be sent or read within times.stall, while a body or an answer is larger than that.
const stallBytes = 64 << 10

// bodyBytesMax is the longest body unless --max-body says otherwise, and what a compressed document may become.
const bodyBytesMax = 8 << 20

// fingerprintsMax are those of a batch unless --max-fingerprints says otherwise.
const fingerprintsMax = 1 << 16

// headerBytesMax is the longest header of a request.
const headerBytesMax = 32 << 10

// DefaultLimits returns the limits of a server that is not told others.
func DefaultLimits() Limits {
	return Limits{
		Connections: 4096, Body: bodyBytesMax, Documents: 4096, Fingerprints: fingerprintsMax, Answer: 16 << 20, RequestMemory: 512 << 20,
		Timeout: 60 * time.Second, Queue: 100 * time.Millisecond,
		times: times{header: 5 * time.Second, body: 30 * time.Second, write: 60 * time.Second, idle: 120 * time.Second, stall: 5 * time.Second},
	}
}

// withDefaults returns the limits with those that are zero filled in.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		cmp.Or(l.Connections, d.Connections), cmp.Or(l.Body, d.Body), cmp.Or(l.Documents, d.Documents), cmp.Or(l.Fingerprints, d.Fingerprints),
		cmp.Or(l.Answer, d.Answer), cmp.Or(l.RequestMemory, d.RequestMemory), cmp.Or(l.Timeout, d.Timeout), cmp.Or(l.Queue, d.Queue),
		times{cmp.Or(l.times.header, d.times.header), cmp.Or(l.times.body, d.times.body), cmp.Or(l.times.write, d.times.write), cmp.Or(l.times.idle, d.times.idle), cmp.Or(l.times.stall, d.times.stall)},
	}
}

// validate refuses limits with which nothing could be served. The error names the flag.
func (l *Limits) validate() error {
	for _, c := range []struct {
		flag         string
		value, least int64
	}{
		{"--max-connections", int64(l.Connections), 1}, {"--max-body", l.Body, 1 << 10}, {"--max-documents", int64(l.Documents), 1},
		{"--max-fingerprints", int64(l.Fingerprints), 1}, {"--max-answer", l.Answer, 64 << 10},
	} {
		if c.value < c.least {
			return fmt.Errorf("%s: must be at least %d", c.flag, c.least)
		}
	}
	for flag, d := range map[string]time.Duration{"--timeout": l.Timeout, "--max-queue": l.Queue} {
		if d < time.Millisecond {
			return fmt.Errorf("%s: must be at least %v", flag, time.Millisecond)
		}
	}
	// A client may have a quarter, and needs it for one body and one answer.
	if need := 4 * (l.Body + 2*l.Answer); l.RequestMemory < need {
		return fmt.Errorf("--request-memory %s: with --max-body %s and --max-answer %s at least %s are needed",
			humanize.IBytes(uint64(l.RequestMemory)), humanize.IBytes(uint64(l.Body)), humanize.IBytes(uint64(l.Answer)), humanize.IBytes(uint64(need)))
	}
	return nil
}
