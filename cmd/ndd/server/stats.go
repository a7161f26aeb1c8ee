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
	Fingerprints uint64          `json:"fingerprints" doc:"Distinct within each segment"`
	Segments     int             `json:"segments"`
	Buffered     uint64          `json:"buffered" doc:"Inserted documents that are not in a segment yet"`
	TableBytes   uint64          `json:"table_bytes"`
	Layout       string          `json:"layout" doc:"Of the tables; empty while there is no segment"`
	K            int             `json:"k" doc:"Largest distance that can be asked for"`
	Design       string          `json:"design"`
	Tables       int             `json:"tables"`
	Recipe       *simhash.Recipe `json:"recipe" doc:"How documents get their fingerprints; null if the index does not know"`
	Durable      bool            `json:"durable" doc:"Whether inserts outlive the server; not yet"`
	Uptime       float64         `json:"uptime_seconds"`
}

func (s *service) registerStats(api huma.API) {
	type output struct{ Body statistics }
	huma.Register(api, operation(http.MethodGet, "/v1/stats", "stats", "Sizes of the index", ""),
		func(context.Context, *struct{}) (*output, error) {
			x := s.index.Load()
			t, d := x.Stats(), x.Design()
			return &output{statistics{
				Documents: t.Documents, Fingerprints: t.Fingerprints, Segments: t.Segments, Buffered: t.Buffered,
				TableBytes: t.TableBytes, Layout: string(t.Layout),
				K: d.K, Design: d.Name, Tables: len(d.Tables), Recipe: x.Recipe(),
				Uptime: time.Since(s.started).Seconds(),
			}}, nil
		})
}
