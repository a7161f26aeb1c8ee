package server

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ndd/engine"
)

// metrics are the figures on the admin listener. Each service has its own
// registry.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waits    *prometheus.HistogramVec
	scrubs   prometheus.Counter
	scrubbed prometheus.Counter
	running  prometheus.Gauge
	panics   prometheus.Counter
	added    prometheus.Counter
	deleted  prometheus.Counter
	asked    *prometheus.CounterVec

	queried, checked, batched prometheus.Counter // of asked
}

// latencyBuckets are three for each doubling, 20 us to 84 s: a quantile is told within 13 %.
var latencyBuckets = prometheus.ExponentialBuckets(20e-6, math.Cbrt(2), 67)

func newMetrics(s *service, o *Options) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ndd_http_requests_total", Help: "Requests by endpoint and status."}, []string{"endpoint", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ndd_http_request_seconds", Help: "Time to answer by endpoint, body included.",
			Buckets: latencyBuckets}, []string{"endpoint"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ndd_gate_wait_seconds", Help: "Time that requests waited for a slot of their gate.",
			Buckets: latencyBuckets}, []string{"gate"}),
		scrubs:   prometheus.NewCounter(prometheus.CounterOpts{Name: "ndd_scrubs_total", Help: "Times that all blocks of the index's files were checked in the background."}),
		scrubbed: prometheus.NewCounter(prometheus.CounterOpts{Name: "ndd_scrubbed_bytes_total", Help: "Bytes of the index's files that were checked in the background."}),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "ndd_http_requests_running", Help: "Requests being read, waiting or being answered."}),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "ndd_http_panics_total", Help: "Requests that ended in a panic."}),
		added:    prometheus.NewCounter(prometheus.CounterOpts{Name: "ndd_inserted_documents_total", Help: "Documents inserted by requests."}),
		asked:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ndd_queries_total", Help: "Fingerprints asked for, by endpoint."}, []string{"endpoint"}),
		deleted:  prometheus.NewCounter(prometheus.CounterOpts{Name: "ndd_deleted_documents_total", Help: "Documents deleted by requests."}),
	}
	m.queried, m.checked, m.batched = m.asked.WithLabelValues("/v1/query"), m.asked.WithLabelValues("/v1/check-and-insert"), m.asked.WithLabelValues("/v1/batch")
	m.registry.MustRegister(m.requests, m.seconds, gates{s}, storage{s, o}, m.waits, m.scrubs, m.scrubbed, m.running, m.panics, m.added, m.deleted, m.asked,
		nodes{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Disk != nil {
		m.registry.MustRegister(o.Disk.syncs, o.Disk.written)
	}
	gauge := func(name, help string, value func(engine.Stats) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if x := s.index.Load(); x != nil {
				return value(x.Stats())
			}
			return 0
		}))
	}
	gauge("ndd_index_documents", "Documents in the index.", func(t engine.Stats) float64 { return float64(t.Documents) })
	gauge("ndd_index_fingerprints", "Fingerprints in the index, distinct within each segment.", func(t engine.Stats) float64 { return float64(t.Fingerprints) })
	gauge("ndd_index_segments", "Segments of the index.", func(t engine.Stats) float64 { return float64(t.Segments) })
	gauge("ndd_index_buffered", "Inserted documents that are not in a segment yet.", func(t engine.Stats) float64 { return float64(t.Buffered) })
	gauge("ndd_index_table_bytes", "Bytes of all tables.", func(t engine.Stats) float64 { return float64(t.TableBytes) })
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ndd_ready", Help: "1 while queries are answered."}, func() float64 {
		if s.unready() == nil {
			return 1
		}
		return 0
	}))
	return m
}

// done counts a finished request. Only patterns of routes are labels, so that
// nobody outside can make new ones.
func (m *metrics) done(to *route, pattern string, status int, took time.Duration) {
	if to != nil && status == http.StatusOK { // by far the most of them
		a := to.answered()
		a.requests.Inc()
		a.seconds.Observe(took.Seconds())
		return
	}
	if pattern == "" || pattern == "/" {
		pattern = "other"
	}
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(pattern).Observe(took.Seconds())
}

// answered are the figures of requests to a route that are answered with 200.
type answered struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

// answered returns those of a route, by its pattern.
func (m *metrics) answered(pattern string) answered {
	return answered{m.requests.WithLabelValues(pattern, strconv.Itoa(http.StatusOK)), m.seconds.WithLabelValues(pattern)}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
