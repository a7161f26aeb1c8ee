package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/distribution"
)

// statistics are the sizes of the index.
type statistics struct {
	Documents    uint64          `json:"documents"`
	Fingerprints uint64          `json:"fingerprints" doc:"Number of fingerprints, distinct within each segment"`
	Segments     int             `json:"segments"`
	SegmentList  []segmentSizes  `json:"segment_list" nullable:"false" doc:"Sizes of the segments, in the order of their documents"`
	Merging      bool            `json:"merging" doc:"Whether segments are being merged"`
	Buffered     uint64          `json:"buffered" doc:"Inserted documents that are not in a segment yet"`
	Unflushed    uint64          `json:"unflushed" doc:"Documents that are in memory, and in the log of a durable index, but not in a file yet"`
	Deleted      uint64          `json:"deleted" doc:"Deleted documents whose room a merge has not given back yet"`
	Expired      uint64          `json:"expired" doc:"Documents whose time is over, and whose room a merge has not given back yet"`
	TableBytes   uint64          `json:"table_bytes"`
	Each         float64         `json:"bytes_each" doc:"Bytes of tables for each fingerprint in a segment; 0 while there is none"`
	Bound        float64         `json:"bound_bytes_each" doc:"Entropy bound: the fewest bytes for each in which so many fingerprints can be told from all others, in one table"`
	Layout       string          `json:"layout" doc:"Layout of the tables; empty while there is no segment"`
	K            int             `json:"k" doc:"Largest distance of queries"`
	Design       string          `json:"design"`
	Tables       int             `json:"tables"`
	Recipe       *simhash.Recipe `json:"recipe,omitempty" doc:"Tokeniser and hash settings; left out if the index was built from raw fingerprints"`
	IDs          bool            `json:"ids" doc:"Whether documents have ids"`
	Durable      bool            `json:"durable" doc:"Whether inserted documents survive a restart"`
	Nodes        []nodeSizes     `json:"nodes,omitempty" doc:"Where the tables are, if they are spread over memory nodes"`
	Shown        bool            `json:"files_shown" doc:"Whether documents that were loaded from files of their own are shown: /v1/compare takes their ids"`
	Limits       limits          `json:"limits" doc:"What one request, and all together, may have at most"`
	Version      string          `json:"version" doc:"Version of the server"`
	Uptime       float64         `json:"uptime_seconds"`
}

// segmentSizes are one segment's.
type segmentSizes struct {
	Documents    uint64 `json:"documents"`
	Fingerprints uint64 `json:"fingerprints"`
	TableBytes   uint64 `json:"table_bytes"`
	FileBytes    uint64 `json:"file_bytes" doc:"Bytes of its file, tables and ids; 0 if it is in memory only"`
}

// nodeSizes are what a memory node has.
type nodeSizes struct {
	Node    int    `json:"node"`
	Tables  int    `json:"tables" doc:"Tables in its memory, in all copies"`
	Bytes   uint64 `json:"bytes" doc:"Bytes of them"`
	Workers uint64 `json:"workers" doc:"Threads that search them"`
}

// limits are what clients may have; each has a flag of ndd serve.
type limits struct {
	BodyBytes     int     `json:"body_bytes"`
	Documents     int     `json:"documents" doc:"Of an insert, a check-and-insert or a delete"`
	Fingerprints  int     `json:"fingerprints" doc:"Of a batch"`
	IDs           int     `json:"ids" doc:"Of the answer to a query"`
	Connections   int     `json:"connections" doc:"At a time"`
	AnswerBytes   int64   `json:"answer_bytes" doc:"Of the ids in an answer in JSON; those beyond are counted and left out"`
	RequestMemory int64   `json:"request_memory_bytes" doc:"Of all bodies and answers under way; one client may have a quarter"`
	Timeout       float64 `json:"timeout_seconds" doc:"Of a request, from the end of its body to the beginning of its answer; of a batch, while it is worked on"`
	Queue         float64 `json:"queue_seconds" doc:"That queries may wait when there are more than can be answered"`
}

// shown returns the limits as /v1/stats has them.
func (l *Limits) shown() limits {
	return limits{int(l.Body), l.Documents, l.Fingerprints, limitMost, l.Connections, l.Answer, l.RequestMemory, l.Timeout.Seconds(), l.Queue.Seconds()}
}

// registerStats adds /v1/stats to the API.
func (s *service) registerStats(api huma.API) {
	type output struct{ Body *statistics }
	huma.Register(api, operation(http.MethodGet, "/v1/stats", "stats", "Sizes of the index", ""),
		func(context.Context, *struct{}) (*output, error) { return &output{s.statistics()}, nil })
}

func (s *service) statistics() *statistics {
	x := s.index.Load()
	t, d := x.Stats(), x.Design()
	a := &statistics{
		Documents: t.Documents, Fingerprints: t.Fingerprints, Segments: t.Segments, Buffered: t.Buffered, Unflushed: t.Unflushed,
		Deleted: t.Deleted, Expired: t.Expired, Durable: x.Live().Durable(), Merging: x.Live().Merging(),
		TableBytes: t.TableBytes, Layout: string(t.Layout), SegmentList: []segmentSizes{},
		K: d.K, Design: d.Name, Tables: len(d.Tables), Recipe: x.Recipe(), IDs: x.Live().Config().IDs,
		Limits: s.limits.shown(), Shown: s.loading.shows(),
		Version: s.version, Uptime: time.Since(s.started).Seconds(),
	}
	var held uint64
	for _, g := range x.Live().Segments() {
		a.SegmentList = append(a.SegmentList, segmentSizes{g.Documents, g.Fingerprints, g.TableBytes, g.FileBytes})
		held += g.Fingerprints
	}
	if held > 0 {
		a.Each, a.Bound = float64(t.TableBytes)/float64(held), distribution.Bound(held)/8
	}
	if r, ok := x.Live().Spread(); ok {
		for i := range r.Nodes {
			n := &r.Nodes[i]
			a.Nodes = append(a.Nodes, nodeSizes{n.Node, n.Tables, n.Placement.Bytes, n.Workers})
		}
	}
	return a
}
