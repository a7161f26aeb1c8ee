package server

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ndd/cmd/ndd/server/admit"
	"ndd/engine"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/wal"
)

// metrics are the figures on the admin listener: those that are counted as things happen, and a
// [collector] of those that are read when they are asked for. Each service has its own registry.
type metrics struct {
	registry                       *prometheus.Registry
	requests, asked                *prometheus.CounterVec
	seconds, waits                 *prometheus.HistogramVec
	scrubs, scrubbed, panics       prometheus.Counter
	added, deleted, near, replaced prometheus.Counter
	running                        prometheus.Gauge
}

// latencyBuckets are three for each doubling, 20 us to 84 s: a quantile is told within 13 %.
var latencyBuckets = prometheus.ExponentialBuckets(20e-6, math.Cbrt(2), 67)

func newMetrics(s *service, o *Options) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	to := promauto.With(m.registry)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return to.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter { return counters(name, help).WithLabelValues() }
	m.requests = counters("ndd_http_requests_total", "Requests by endpoint and status.", "endpoint", "status")
	m.asked = counters("ndd_queries_total", "Fingerprints asked for, by endpoint.", "endpoint")
	m.scrubs = counter("ndd_scrubs_total", "Times that all blocks of the index's files were checked in the background.")
	m.scrubbed = counter("ndd_scrubbed_bytes_total",
		"Bytes of the index's files that were checked in the background.")
	m.panics = counter("ndd_http_panics_total", "Requests that ended in a panic.")
	m.added = counter("ndd_inserted_documents_total", "Documents inserted by requests.")
	m.deleted = counter("ndd_deleted_documents_total", "Documents deleted by requests.")
	m.near = counter("ndd_near_duplicates_total",
		"Documents that check-and-insert kept out because a near-duplicate was stored.")
	m.replaced = counter("ndd_replaced_documents_total", "Stored documents that an insert with the same ID replaced.")
	m.seconds = latencies("ndd_http_request_seconds", "Time to answer by endpoint, body included.", "endpoint")
	m.waits = latencies("ndd_gate_wait_seconds", "Time that requests waited for a slot of their gate.", "gate")
	m.running = to.NewGauge(prometheus.GaugeOpts{Name: "ndd_http_requests_running",
		Help: "Requests being read, waiting or being answered."})
	m.registry.MustRegister(m.seconds, m.waits, collector{s, o}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Disk != nil {
		m.registry.MustRegister(o.Disk.syncs, o.Disk.written)
	}
	return m
}

// latencies returns a histogram of times, by a label.
func latencies(name, help, label string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets},
		[]string{label})
}

// done counts a finished request. Only patterns of routes are labels, so that
// nobody outside can make new ones.
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

// A collector reads figures when they are asked for: of admission, of memory and of the index.
type collector struct {
	service *service
	options *Options
}

// Describe leaves the figures open: most are there only with an index.
func (collector) Describe(chan<- *prometheus.Desc) {}

// figures is where a collector sends figures.
type figures chan<- prometheus.Metric

func (to figures) gauge(name, help string, value float64, labels ...string) {
	to.send(prometheus.GaugeValue, name, help, value, labels)
}

func (to figures) counter(name, help string, value float64, labels ...string) {
	to.send(prometheus.CounterValue, name, help, value, labels)
}

// send sends a figure; labels are names and values in turn.
func (to figures) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

// bit returns 1 for true.
func bit(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Collect sends the figures.
func (m collector) Collect(out chan<- prometheus.Metric) {
	s, to := m.service, figures(out)
	to.gauge("ndd_ready", "1 while queries are answered.", bit(s.unready() == nil))
	to.gauge("ndd_writable", "0 since a change was refused, until one is made: the disk or the memory is full, or the disk failed.",
		bit(s.refused.Load() == nil))
	s.collectAdmission(to)
	memory := func(purpose string, held, of uint64) {
		to.gauge("ndd_memory_bytes", "Bytes of memory that are reserved, by purpose.", float64(held), "purpose", purpose)
		to.gauge("ndd_memory_bytes_limit", "Bytes of memory that may be reserved, by purpose.", float64(of), "purpose",
			purpose)
	}
	memory("requests", s.transfers.Held(), s.transfers.Limit())
	if b := m.options.Budget; b != nil {
		memory("index", b.Limit().Bytes-b.Left(), b.Limit().Bytes)
	}
	x := s.index.Load()
	var t engine.Stats
	if x != nil {
		t = x.Stats()
	}
	to.counter("ndd_expired_documents_total", "Documents whose time to live ended since the server started.",
		s.balance.expired(x))
	to.gauge("ndd_index_documents", "Documents in the index.", float64(t.Documents))
	to.gauge("ndd_index_fingerprints", "Fingerprints in the index, distinct within each segment.", float64(t.Fingerprints))
	to.gauge("ndd_index_segments", "Segments of the index.", float64(t.Segments))
	to.gauge("ndd_index_buffered", "Inserted documents that are not in a segment yet.", float64(t.Buffered))
	to.gauge("ndd_index_table_bytes", "Bytes of all tables.", float64(t.TableBytes))
	if x == nil {
		return
	}
	to.gauge("ndd_index_unflushed",
		"Documents that are in memory, and in the log of a durable index, but in no other file yet.", float64(t.Unflushed))
	to.gauge("ndd_index_deleted", "Deleted documents that take room until a merge drops them.", float64(t.Deleted))
	to.gauge("ndd_index_expired", "Documents whose time is over, likewise.", float64(t.Expired))
	to.gauge("ndd_index_merging", "1 while files are merged.", bit(x.Live().Merging()))
	var files uint64
	for _, s := range x.Live().Segments() {
		files += s.FileBytes
	}
	to.gauge("ndd_segment_file_bytes", "Bytes of the segments' files, which are mapped unless they are loaded.",
		float64(files))
	if m.options.Folder != "" {
		to.gauge("ndd_log_bytes", "Bytes of the write-ahead log.", float64(logBytes(m.options.Folder)))
	}
	if r, ok := x.Live().Spread(); ok {
		to.gauge("ndd_nodes_without", "Things that could not be had of the memory nodes; the log says which.",
			float64(len(r.Notes)))
	}
}

// collectAdmission sends what runs, waits and was refused, and the connections of clients.
func (s *service) collectAdmission(to figures) {
	for _, g := range []*admit.Gate{s.queries, s.batches, s.inserts} {
		now := g.State()
		to.gauge("ndd_gate_running", "Requests that hold a slot of the gate.", float64(now.Running), "gate", g.Name)
		to.gauge("ndd_gate_slots", "Slots of the gate.", float64(g.Slots), "gate", g.Name)
		to.gauge("ndd_gate_queue", "Requests that wait for a slot.", float64(now.Waiting), "gate", g.Name)
		for why, n := range now.Refused {
			to.counter("ndd_http_shed_total",
				"Requests answered 429 by gate: the queue was full, the wait too long, or the client gone.",
				float64(n), "gate", g.Name, "why", why)
		}
	}
	to.counter("ndd_transfers_cut_off_total",
		"Requests of clients that stood still, which were ended because others needed the memory.",
		float64(s.transfers.CutOff()))
	if s.front == nil {
		return
	}
	c := s.front.now()
	to.gauge("ndd_connections", "Connections of the main listener.", float64(c.Open))
	to.gauge("ndd_connections_idle", "Those of them without a request.", float64(c.Idle))
	to.gauge("ndd_connections_limit", "Connections that may be open.", float64(s.limits.Connections))
	to.counter("ndd_connections_taken_total", "Connections that were accepted and served.", float64(c.Taken))
	to.counter("ndd_connections_closed_total", "Idle connections that were closed to make room for others.",
		float64(c.Closed))
	to.counter("ndd_connections_turned_away_total",
		"Connections that were closed at once because all others were busy.", float64(c.Turned))
}

// logBytes returns the bytes of the write-ahead log in an index's folder.
func logBytes(dir string) (sum int64) {
	logs, _ := wal.Paths(nil, dir, wal.Mark{}) // without a folder there are none
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil { // else it was emptied meanwhile
			sum += info.Size()
		}
	}
	return sum
}

// A balance counts the documents that expire: those that were added, less those that were deleted
// and those that are there. Changes under way make the result smaller, never larger, so that the
// largest one seen is the count.
type balance struct {
	added    atomic.Int64 // with those at the start, less those that were deleted
	deleting atomic.Int64 // documents that requests under way may delete
	mu       sync.Mutex
	most     int64
}

// expired returns the count.
func (b *balance) expired(x *engine.Index) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if x != nil {
		added := b.added.Load() - b.deleting.Load()
		b.most = max(b.most, added-int64(x.Stats().Documents))
	}
	return float64(b.most)
}

// deleting runs a deletion, and counts the documents that it deleted.
func (s *service) deleting(remove func() (int, error)) (int, error) {
	const unknown = 1 << 40 // so many that nothing seems to have expired meanwhile
	s.balance.deleting.Add(unknown)
	n, err := remove()
	s.balance.added.Add(-int64(n))
	s.balance.deleting.Add(-unknown)
	s.metrics.deleted.Add(float64(n))
	return n, err
}

// DiskFigures count the bytes written and the time spent waiting for the disk. They are the hook of
// the disk that an index is written to (disk.Hooked), and of the metrics of its server. They are
// safe for concurrent use.
type DiskFigures struct {
	began   sync.Map // *disk.Op -> time.Time
	syncs   *prometheus.HistogramVec
	written *prometheus.CounterVec
}

// NewDiskFigures returns figures of nothing.
func NewDiskFigures() *DiskFigures {
	return &DiskFigures{
		syncs: latencies("ndd_disk_sync_seconds", "Time of syncs, of the write-ahead log and of other files.", "file"),
		written: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ndd_disk_written_bytes_total",
			Help: "Bytes written, to the write-ahead log and to other files."}, []string{"file"}),
	}
}

// Before is part of disk.Hook.
func (d *DiskFigures) Before(op *disk.Op) error {
	if op.Call == disk.CallSync || op.Call == disk.CallSyncFolder {
		d.began.Store(op, time.Now())
	}
	return nil
}

// After is part of disk.Hook.
func (d *DiskFigures) After(op *disk.Op) {
	kind := "other"
	if filepath.Ext(op.Path) == wal.Extension {
		kind = "log"
	}
	if op.Call == disk.CallWrite {
		d.written.WithLabelValues(kind).Add(float64(len(op.Data)))
	}
	if began, ok := d.began.LoadAndDelete(op); ok {
		d.syncs.WithLabelValues(kind).Observe(time.Since(began.(time.Time)).Seconds())
	}
}
