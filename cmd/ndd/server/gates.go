package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ndd/cmd/ndd/server/admit"
)

// waited returns the function that a gate tells how long requests waited.
func (s *service) waited(gate string) func(time.Duration) {
	seconds := sync.OnceValue(func() prometheus.Observer { return s.metrics.waits.WithLabelValues(gate) })
	return func(d time.Duration) { seconds().Observe(d.Seconds()) }
}

// gates are the figures of admission: what runs, waits and was refused, and the memory and connections of clients.
type gates struct{ service *service }

// Describe leaves the figures open.
func (gates) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures of every gate.
func (m gates) Collect(to chan<- prometheus.Metric) {
	s := m.service
	send := func(name, help string, kind prometheus.ValueType, value float64, labels ...string) {
		var names, values []string
		for i := 0; i < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
	for _, g := range []*admit.Gate{s.queries, s.batches, s.inserts} {
		now := g.State()
		send("ndd_gate_running", "Requests that hold a slot of the gate.", prometheus.GaugeValue, float64(now.Running), "gate", now.Name)
		send("ndd_gate_slots", "Slots of the gate.", prometheus.GaugeValue, float64(now.Slots), "gate", now.Name)
		send("ndd_gate_queue", "Requests that wait for a slot.", prometheus.GaugeValue, float64(now.Waiting), "gate", now.Name)
		send("ndd_gate_queue_seconds", "Time that the work which waits is expected to take.", prometheus.GaugeValue, now.Wait.Seconds(), "gate", now.Name)
		for why, n := range now.Refused {
			send("ndd_http_shed_total", "Requests answered 429 by gate: the queue was full, the wait too long, or the client gone.", prometheus.CounterValue, float64(n), "gate", now.Name, "why", why)
		}
	}
	held, of := s.transfers.Bytes()
	send("ndd_transfer_bytes", "Bytes that the bodies and answers under way hold.", prometheus.GaugeValue, float64(held))
	send("ndd_transfer_bytes_limit", "Bytes that they may hold (--request-memory).", prometheus.GaugeValue, float64(of))
	send("ndd_transfers_cut_off_total", "Requests of clients that stood still, which were ended because others needed the memory.", prometheus.CounterValue, float64(s.transfers.CutOff()))
	if s.front == nil {
		return
	}
	c := s.front.Counts()
	send("ndd_connections", "Connections of the main listener.", prometheus.GaugeValue, float64(c.Open))
	send("ndd_connections_idle", "Those of them without a request.", prometheus.GaugeValue, float64(c.Idle))
	send("ndd_connections_limit", "Connections that may be open (--max-connections).", prometheus.GaugeValue, float64(s.limits.Connections))
	send("ndd_connections_taken_total", "Connections that were accepted and served.", prometheus.CounterValue, float64(c.Taken))
	send("ndd_connections_closed_total", "Idle connections that were closed to make room for others.", prometheus.CounterValue, float64(c.Closed))
	send("ndd_connections_turned_away_total", "Connections that were closed at once since all others were at work.", prometheus.CounterValue, float64(c.Turned))
	if s.quick == nil {
		return
	}
	q := s.quick.Counts()
	send("ndd_plain_requests_total", "Requests that were answered on their connection, without net/http.", prometheus.CounterValue, float64(q.Answered))
	send("ndd_connections_handed_over_total", "Connections that became those of net/http, since something came that was not small and plain.", prometheus.CounterValue, float64(q.HandedOver))
}
