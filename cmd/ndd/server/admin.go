package server

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/plot"
)

// administration handles the requests about the server and the whole index.
type administration struct {
	options   *Options
	limits    *bounds
	start     time.Time
	backingUp *sync.Mutex // held while a backup is made
}

// A backupAnswer describes a backup.
type backupAnswer struct {
	Name    string  `json:"name"`
	Files   int     `json:"files"`
	Linked  uint64  `json:"linked_bytes"`
	Copied  uint64  `json:"copied_bytes"`
	Records uint64  `json:"log_records"`
	Seconds float64 `json:"seconds"`
}

// A backupRequest is the body of /v1/backup.
type backupRequest struct {
	Name string `json:"name"`
}

// backupName is the pattern of the name of a backup.
var backupName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,99}$`)

// backup handles /v1/backup. It makes a backup with the given name.
func (s administration) backup(ctx context.Context, c *call, in *backupRequest) (reply, *problem) {
	if !backupName.MatchString(in.Name) {
		return reply{}, fieldProblem("body.name",
			"must begin with a letter or digit; then letters, digits and . _ - are allowed, 100 in all")
	}
	if !s.backingUp.TryLock() {
		return reply{}, newProblem(http.StatusTooManyRequests, "a backup is being made").retry(5)
	}
	defer s.backingUp.Unlock()
	began := time.Now()
	r, err := live.Unwrap(c.index).Backup(ctx, filepath.Join(s.options.Backups, in.Name))
	switch {
	case errors.Is(err, live.ErrNotDurable):
		return reply{}, newProblem(http.StatusConflict, "there is nothing to back up: "+err.Error())
	case errors.Is(err, fs.ErrExist):
		p := fieldProblem("body.name", "a backup with this name exists: choose another name")
		p.Status, p.Title = http.StatusConflict, http.StatusText(http.StatusConflict)
		return reply{}, p
	case err != nil:
		return reply{}, errorProblem(err)
	}
	took := time.Since(began)
	s.options.Log.Info("backup made", "name", in.Name, "files", r.Files, "linked_bytes", r.Linked, "copied_bytes", r.Copied,
		"seconds", took.Seconds())
	return reply{value: &backupAnswer{in.Name, r.Files, r.Linked, r.Copied, r.Log.Records, took.Seconds()}}, nil
}

// statistics is the answer of /v1/stats: the sizes and the kind of the index, and the server's limits.
type statistics struct {
	indexSizes
	indexKind

	Limits  limits  `json:"limits"`
	Version string  `json:"version"`
	Uptime  float64 `json:"uptime_seconds"`
}

// indexSizes are the sizes of an index.
type indexSizes struct {
	Documents    uint64         `json:"documents"`
	Fingerprints uint64         `json:"fingerprints"`
	Segments     int            `json:"segments"`
	SegmentList  []segmentSizes `json:"segment_list"`
	Merging      bool           `json:"merging"`
	Buffered     uint64         `json:"buffered"`
	Unflushed    uint64         `json:"unflushed"`
	Deleted      uint64         `json:"deleted"`
	Expired      uint64         `json:"expired"`
	TableBytes   uint64         `json:"table_bytes"`
	BytesEach    float64        `json:"bytes_each"`
	BoundEach    float64        `json:"bound_bytes_each"`
}

// indexKind describes the design and the settings of an index.
type indexKind struct {
	Layout  string          `json:"layout"`
	K       int             `json:"k"`
	Design  string          `json:"design"`
	Tables  int             `json:"tables"`
	Recipe  *simhash.Recipe `json:"recipe,omitempty"`
	IDs     bool            `json:"ids"`
	Durable bool            `json:"durable"`
}

// shownRecipe returns the recipe of the index without its private key.
func shownRecipe(x *engine.Index) *simhash.Recipe {
	r := x.Recipe()
	if r == nil {
		return nil
	}
	recipe := r.Shown()
	return &recipe
}

// segmentSizes are the sizes of a segment.
type segmentSizes struct {
	Documents    uint64 `json:"documents"`
	Fingerprints uint64 `json:"fingerprints"`
	TableBytes   uint64 `json:"table_bytes"`
	FileBytes    uint64 `json:"file_bytes"`
}

// limits are the limits of requests.
type limits struct {
	BodyBytes    int `json:"body_bytes"`
	Documents    int `json:"documents"`
	Fingerprints int `json:"fingerprints"`
	IDs          int `json:"ids"`
}

// statistics is /v1/stats.
func (s administration) statistics(_ context.Context, c *call) (reply, *problem) {
	x := c.index
	t, d := x.Stats(), x.Design()
	a := &statistics{
		indexSizes: indexSizes{Documents: t.Documents, Fingerprints: t.Fingerprints, Segments: t.Segments,
			SegmentList: []segmentSizes{}, Merging: live.Unwrap(x).Merging(), Buffered: t.Buffered, Unflushed: t.Unflushed,
			Deleted: t.Deleted, Expired: t.Expired, TableBytes: t.TableBytes},
		indexKind: indexKind{Layout: t.Layout, K: d.K, Design: d.Name, Tables: len(d.Tables), Recipe: shownRecipe(x),
			IDs: live.Unwrap(x).Config().IDs, Durable: live.Unwrap(x).Durable()},
		Limits: limits{int(s.limits.Body), strict.Max, fingerprintsMax, limitMax}, Version: s.options.Version, Uptime: time.Since(s.start).Seconds(),
	}
	var inUse uint64
	for _, g := range live.Unwrap(x).Segments() {
		a.SegmentList = append(a.SegmentList, segmentSizes{g.Documents, g.Fingerprints, g.TableBytes, g.FileBytes})
		inUse += g.Fingerprints
	}
	if inUse > 0 {
		a.BytesEach, a.BoundEach = float64(t.TableBytes)/float64(inUse), distribution.Bound(inUse)/8
	}
	return reply{value: a}, nil
}

// openAPI describes the interface. It is a template for values of type traits. Tests compare each form of it with the
// handlers.
//
//go:embed openapi.json
var openAPI string

// traits are the properties of a server and its index that the description depends on.
type traits struct {
	IDs      bool // documents have ids
	Recipe   bool // documents can be fingerprinted
	Tokens   bool // clients need tokens
	Backups  bool // /v1/backup is served
	Examples bool // the examples of the description fit the index

	K       int
	Version string
}

// traitsOf returns the traits of a server with an index. Without an index, it returns traits that fit every index.
func traitsOf(o *Options, x *engine.Index) traits {
	t := traits{IDs: true, Recipe: true, K: 64, Tokens: o.TokenFile != "", Backups: o.Backups != "", Version: o.Version}
	if x != nil {
		t.IDs, t.Recipe, t.K = live.Unwrap(x).Config().IDs, x.Recipe() != nil, x.Design().K
	}
	t.Examples = t.IDs && t.Recipe
	return t
}

// json returns the description as JSON.
func (t traits) json() []byte { return []byte(plot.NewTextPage(openAPI).Format(t)) }

// serveOpenAPI returns the handler of /openapi.json.
func serveOpenAPI(o *Options, index *atomic.Pointer[engine.Index]) http.HandlerFunc {
	unknown := sync.OnceValue(func() []byte { return traitsOf(o, nil).json() })
	known := sync.OnceValue(func() []byte { return traitsOf(o, index.Load()).json() })
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		if index.Load() == nil {
			w.Write(unknown())
			return
		}
		w.Write(known())
	}
}
