package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/cmd/ndd/server/activity"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/distribution"
)

// recentAnswer is what the server did in the last minutes.
type recentAnswer struct {
	Step    float64   `json:"step_seconds" doc:"Length of a step; the lists have one number for each, the oldest first"`
	Queries []float64 `json:"queries" nullable:"false" doc:"Answered requests that ask, a second"`
	Changes []float64 `json:"changes" nullable:"false" doc:"Answered requests that insert or delete, a second"`
	Refused []float64 `json:"refused" nullable:"false" doc:"Requests that were refused or failed, a second"`
	P50     []float64 `json:"p50_ms" nullable:"false" doc:"Time in which half of the answers of a step were given; 0 where there were none"`
	P99     []float64 `json:"p99_ms" nullable:"false" doc:"Time in which 99 % of them were given"`
}

// registerActivity adds /v1/activity to the API.
func (s *service) registerActivity(api huma.API) {
	type output struct{ Body *recentAnswer }
	huma.Register(api, operation(http.MethodGet, "/v1/activity", "activity", "Requests and their times in the last five minutes", ""),
		func(context.Context, *struct{}) (*output, error) {
			a := &recentAnswer{Step: activity.Step.Seconds()}
			for _, m := range s.recent.Recent(time.Now()) {
				a.Queries = append(a.Queries, float64(m.Queries)/a.Step)
				a.Changes = append(a.Changes, float64(m.Changes)/a.Step)
				a.Refused = append(a.Refused, float64(m.Refused)/a.Step)
				a.P50 = append(a.P50, m.P50.Seconds()*1e3)
				a.P99 = append(a.P99, m.P99.Seconds()*1e3)
			}
			return &output{a}, nil
		})
}

// remember counts a request that was answered, unless it only looked at the server.
func (s *service) remember(now time.Time, pattern string, status int, took time.Duration) {
	kind := activity.Query
	switch strings.TrimPrefix(pattern, "POST /v1/") {
	case "query", "batch", "compare", "copies":
	case "insert", "check-and-insert", "delete":
		kind = activity.Change
	default:
		return
	}
	s.recent.Add(now, kind, status >= 400, took)
}

// distributionAnswer is how the stored fingerprints are distributed.
type distributionAnswer struct {
	Fingerprints uint64    `json:"fingerprints" doc:"How many there were, distinct within each segment"`
	Ones         []float64 `json:"ones_by_bit" nullable:"false" doc:"Fraction of them in which each bit is set, from bit 0 (the paper's figure 2a)"`
	Intervals    []uint64  `json:"by_interval" nullable:"false" doc:"How many are in each of 128 equal parts of all 64-bit numbers (figure 2b)"`
	Measured     string    `json:"measured" format:"date-time" doc:"When they were counted"`
	Seconds      float64   `json:"seconds" doc:"How long that took"`
}

// A census is the last count of the stored fingerprints.
type census struct {
	mu    sync.Mutex // held while they are counted
	last  *distributionAnswer
	until time.Time // when it is counted again
}

const (
	// censusRest is how long a count stands, at least: another share of the time than one in this many is never
	// spent on counting.
	censusRest  = 20 * time.Second
	censusShare = 100
)

// registerDistribution adds /v1/distribution to the API.
func (s *service) registerDistribution(api huma.API) {
	type output struct{ Body *distributionAnswer }
	huma.Register(api, operation(http.MethodGet, "/v1/distribution", "distribution", "How the fingerprints are distributed",
		"Reads all fingerprints, at some 3 ns each. A count is kept for 20 seconds, and for 100 times as long as it took."),
		func(ctx context.Context, _ *struct{}) (*output, error) {
			a, err := s.census.count(ctx, s.index.Load())
			if err != nil {
				return nil, broken(err)
			}
			return &output{a}, nil
		})
}

// count returns the last count, or a new one.
func (c *census) count(ctx context.Context, x *engine.Index) (*distributionAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if c.last != nil && began.Before(c.until) {
		return c.last, nil
	}
	var counts distribution.Counts
	err := x.Walk(ctx, func(list []simhash.Fingerprint) bool {
		counts.Add(simhash.Words(list))
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	a := &distributionAnswer{Fingerprints: counts.Fingerprints, Intervals: counts.Leading[:], Measured: began.UTC().Format(time.RFC3339), Seconds: took.Seconds()}
	for bit := range 64 {
		a.Ones = append(a.Ones, counts.Fraction(bit))
	}
	c.last, c.until = a, began.Add(max(censusRest, censusShare*took))
	return a, nil
}
