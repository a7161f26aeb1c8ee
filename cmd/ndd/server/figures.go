package server

import (
	"os"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/storage/wal"
)

// A collector reads the current figures of admission, memory and the index for each scrape.
type collector struct {
	*admission
	*condition
	front   *connections
	options *Options
}

// Describe describes no figures, because most exist only with an index.
func (collector) Describe(chan<- *prometheus.Desc) {}

// figures is the channel to which a collector sends figures.
type figures chan<- prometheus.Metric

func (to figures) gauge(name, help string, value float64, labels ...string) {
	to.send(prometheus.GaugeValue, name, help, value, labels)
}

func (to figures) counter(name, help string, value float64, labels ...string) {
	to.send(prometheus.CounterValue, name, help, value, labels)
}

// send sends a figure. labels are alternating names and values.
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
func (s collector) Collect(out chan<- prometheus.Metric) {
	// The state of the server and its memory exists without an index.
	to := figures(out)
	to.gauge("ndd_ready", "1 if queries are answered, else 0.", bit(s.unready() == nil))
	to.gauge("ndd_writable", "1 if changes are accepted; 0 after a refused change until one succeeds: the disk or memory is full, or the disk failed.",
		bit(s.refused.Load() == nil))
	s.collectAdmission(to)
	memory := func(purpose string, reserved, limit uint64) {
		to.gauge("ndd_memory_bytes", "Reserved memory in bytes, by purpose.", float64(reserved), "purpose", purpose)
		to.gauge("ndd_memory_bytes_limit", "Limit of the reserved memory in bytes, by purpose.", float64(limit), "purpose",
			purpose)
	}
	memory("requests", s.transfers.Held(), s.transfers.Limit())
	if b := s.options.Budget; b != nil {
		memory("index", b.Limit().Bytes-b.Free(), b.Limit().Bytes)
	}
	// Figures of an empty index stand for a missing one.
	x := s.index.Load()
	var t engine.Stats
	if x != nil {
		t = x.Stats()
	}
	to.gauge("ndd_index_documents", "Documents in the index.", float64(t.Documents))
	to.gauge("ndd_index_segments", "Segments of the index.", float64(t.Segments))
	// The rest needs an index.
	if x == nil {
		return
	}
	to.gauge("ndd_index_unflushed",
		"Documents in memory, and in the log of a durable index, that are not in a segment file yet.", float64(t.Unflushed))
	var files uint64
	for _, g := range live.Unwrap(x).Segments() {
		files += g.FileBytes
	}
	to.gauge("ndd_segment_file_bytes", "Bytes of the segment files, which are mapped or loaded.",
		float64(files))
	if s.options.Folder != "" {
		to.gauge("ndd_log_bytes", "Bytes of the write-ahead log.", float64(logBytes(s.options.Folder)))
	}
}

// collectAdmission sends the numbers of running, waiting and refused requests, and of connections.
func (s collector) collectAdmission(to figures) {
	for _, g := range []*admit.Gate{s.queries, s.batches, s.inserts} {
		state := g.State()
		to.gauge("ndd_gate_running", "Running requests, by gate.", float64(state.Running), "gate", g.Name)
		to.gauge("ndd_gate_queue", "Waiting requests, by gate.", float64(state.Waiting), "gate", g.Name)
		for why, n := range state.Refused {
			to.counter("ndd_http_shed_total",
				"Requests refused with 429, by gate and reason: full queue, long wait, or disconnected client.",
				float64(n), "gate", g.Name, "why", why)
		}
	}
	to.counter("ndd_transfers_cut_off_total",
		"Requests that were aborted because their clients stalled and others needed the memory.",
		float64(s.transfers.CutOff()))
	c := s.front.state()
	to.gauge("ndd_connections", "Open connections of the main listener.", float64(c.Open))
	to.gauge("ndd_connections_idle", "Open connections without a request.", float64(c.Idle))
	to.gauge("ndd_connections_limit", "Maximum number of open connections.", float64(s.front.max))
	to.counter("ndd_connections_taken_total", "Accepted connections.", float64(c.Accepted))
	to.counter("ndd_connections_closed_total", "Idle connections that were closed in favour of new ones.",
		float64(c.Closed))
	to.counter("ndd_connections_turned_away_total",
		"Connections that were refused because all others were busy.", float64(c.Refused))
}

// logBytes returns the bytes of the write-ahead log in an index's folder.
func logBytes(dir string) (sum int64) {
	logs, _ := wal.Paths(nil, dir, wal.Mark{}) // a missing folder has no logs
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil { // otherwise a flush has just removed it
			sum += info.Size()
		}
	}
	return sum
}
