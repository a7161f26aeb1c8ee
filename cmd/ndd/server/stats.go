package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/corpus/simhash"
)

// statistics are the sizes of the index.
type statistics struct {
	Documents    uint64          `json:"documents"`
	Fingerprints uint64          `json:"fingerprints" doc:"Number of fingerprints, distinct within each segment"`
	Segments     int             `json:"segments"`
	Buffered     uint64          `json:"buffered" doc:"Inserted documents that are not in a segment yet"`
	Unflushed    uint64          `json:"unflushed" doc:"Documents that are in memory, and in the log of a durable index, but not in a file yet"`
	Deleted      uint64          `json:"deleted" doc:"Deleted documents whose room a merge has not given back yet"`
	TableBytes   uint64          `json:"table_bytes"`
	Layout       string          `json:"layout" doc:"Layout of the tables; empty while there is no segment"`
	K            int             `json:"k" doc:"Largest distance of queries"`
	Design       string          `json:"design"`
	Tables       int             `json:"tables"`
	Recipe       *simhash.Recipe `json:"recipe,omitempty" doc:"Tokeniser and hash settings; left out if the index was built from raw fingerprints"`
	Durable      bool            `json:"durable" doc:"Whether inserted documents survive a restart"`
	Uptime       float64         `json:"uptime_seconds"`
}

func (s *service) registerStats(api huma.API) {
	type output struct{ Body statistics }
	huma.Register(api, operation(http.MethodGet, "/v1/stats", "stats", "Sizes of the index", ""),
		func(context.Context, *struct{}) (*output, error) {
			x := s.index.Load()
			t, d := x.Stats(), x.Design()
			return &output{statistics{
				Documents: t.Documents, Fingerprints: t.Fingerprints, Segments: t.Segments, Buffered: t.Buffered, Unflushed: t.Unflushed, Deleted: t.Deleted, Durable: x.Live().Durable(),
				TableBytes: t.TableBytes, Layout: string(t.Layout),
				K: d.K, Design: d.Name, Tables: len(d.Tables), Recipe: x.Recipe(),
				Uptime: time.Since(s.started).Seconds(),
			}}, nil
		})
}
