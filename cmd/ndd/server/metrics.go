package server

import (
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.org/ndd/engine"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/wal"
)

// metrics are the figures on the admin listener. Counters are updated when something happens; a [collector] reads
// other figures for each scrape. Each service has its own registry.
type metrics struct {
	registry                       *prometheus.Registry
	requests, queried              *prometheus.CounterVec
	seconds, waits                 *prometheus.HistogramVec
	scrubs, panics                 prometheus.Counter
	added, deleted, near, replaced prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	to := promauto.With(m.registry)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return to.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter { return counters(name, help).WithLabelValues() }
	m.requests = counters("ndd_http_requests_total", "Requests by endpoint and status.", "endpoint", "status")
	m.queried = counters("ndd_queries_total", "Queried fingerprints, by endpoint.", "endpoint")
	m.scrubs = counter("ndd_scrubs_total", "Complete background checks of the files of the index.")
	m.panics = counter("ndd_http_panics_total", "Requests that ended in a panic.")
	m.added = counter("ndd_inserted_documents_total", "Documents inserted by requests.")
	m.deleted = counter("ndd_deleted_documents_total", "Documents deleted by requests.")
	m.near = counter("ndd_near_duplicates_total",
		"Documents that check-and-insert did not add because a near-duplicate was stored.")
	m.replaced = counter("ndd_replaced_documents_total", "Stored documents that an insert with the same ID replaced.")
	m.seconds = latencies("ndd_http_request_seconds", "Time to answer a request, including its body, by endpoint.", "endpoint")
	m.waits = latencies("ndd_gate_wait_seconds", "Time that requests waited for a slot, by gate.", "gate")
	m.registry.MustRegister(m.seconds, m.waits, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// done counts a finished request. The labels are patterns of routes, so clients cannot create new labels.
func (m *metrics) done(pattern string, status int, took time.Duration) {
	if pattern == "" || pattern == "/" {
		pattern = "other"
	}
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(pattern).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// note counts the outcome of a document, and adds it to the effect of its request.
func (m *metrics) note(e *effect, id string, o *engine.Outcome) {
	e.documents++
	e.id, e.outcome = id, "kept"
	switch {
	case o.Repeated:
		e.outcome = "before"
	case o.Replaced:
		e.outcome = "replaced"
		m.replaced.Inc()
	case o.Inserted:
		e.outcome = "inserted"
	case len(o.Near) > 0:
		e.outcome = "near-duplicate"
		m.near.Inc()
	}
	if o.Inserted && !o.Repeated {
		e.changed++
		m.added.Inc()
	}
}

// DiskFigures have the time of syncs. They are a hook of the index's disk (disk.Hooked), and the server reports them.
// They are safe for concurrent use.
type DiskFigures struct {
	starts sync.Map // *disk.Op -> time.Time
	syncs  *prometheus.HistogramVec
}

// NewDiskFigures returns figures that are all zero.
func NewDiskFigures() *DiskFigures {
	return &DiskFigures{syncs: latencies("ndd_disk_sync_seconds",
		"Time of syncs to the disk, by file: the write-ahead log, or other files.", "file")}
}

// Before is part of disk.Hook.
func (d *DiskFigures) Before(op *disk.Op) error {
	if op.Call == disk.CallSync || op.Call == disk.CallSyncFolder {
		d.starts.Store(op, time.Now())
	}
	return nil
}

// After is part of disk.Hook.
func (d *DiskFigures) After(op *disk.Op) {
	if start, ok := d.starts.LoadAndDelete(op); ok {
		kind := "other"
		if filepath.Ext(op.Path) == wal.Extension {
			kind = "log"
		}
		d.syncs.WithLabelValues(kind).Observe(time.Since(start.(time.Time)).Seconds())
	}
}

// latencyBuckets has three buckets for each doubling, from 20 us to 84 s: the error of a quantile is at most 13 %.
var latencyBuckets = prometheus.ExponentialBuckets(20e-6, math.Cbrt(2), 67)

// latencies returns a histogram of times, by a label.
func latencies(name, help, label string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets},
		[]string{label})
}
