package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"ndd/engine/index/worker"
)

// nodes are the figures of memory nodes, of an index that is spread over them.
type nodes struct{ service *service }

// nodeFigures are counted by each node; package numa has the words.
var nodeFigures = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(n *worker.NodeReport) uint64
}{
	{"tables", "Tables on the memory node, in all copies.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return uint64(n.Tables) }},
	{"table_bytes", "Bytes of its tables that were copied to the memory node.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Placement.Bytes }},
	{"pages", "Pages of 4 KiB of those tables.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Placement.Pages }},
	{"pages_asked", "Pages of which the kernel told where they are, when the index was opened.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Placement.Asked }},
	{"pages_here", "Of the pages asked for, those on the memory node.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Placement.On }},
	{"workers", "Workers of the memory node.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Workers }},
	{"workers_pinned", "Workers that may run on the memory node's processors only.", prometheus.GaugeValue, func(n *worker.NodeReport) uint64 { return n.Pinned }},
	{"workers_away_total", "Times that a pinned worker was found on another processor.", prometheus.CounterValue, func(n *worker.NodeReport) uint64 { return n.Away }},
	{"queries_total", "Fingerprints that the workers searched the memory node's tables for, sweeps left out.", prometheus.CounterValue, func(n *worker.NodeReport) uint64 { return n.Queries }},
	{"tasks_total", "Tasks handed to the workers.", prometheus.CounterValue, func(n *worker.NodeReport) uint64 { return n.Tasks }},
	{"batches_total", "Batches in which the workers took the tasks.", prometheus.CounterValue, func(n *worker.NodeReport) uint64 { return n.Batches }},
	{"sleeps_total", "Times that a worker fell asleep.", prometheus.CounterValue, func(n *worker.NodeReport) uint64 { return n.Sleeps }},
}

// Describe leaves the figures open: there are none until the index is there.
func (nodes) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures of every node.
func (m nodes) Collect(to chan<- prometheus.Metric) {
	x := m.service.index.Load()
	if x == nil {
		return
	}
	r, ok := x.Live().Spread()
	if !ok {
		return
	}
	send := func(name, help string, kind prometheus.ValueType, value uint64, node ...string) {
		var labels []string
		if len(node) > 0 {
			labels = []string{"node"}
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, labels, nil), kind, float64(value), node...)
	}
	send("ndd_table_copies", "Copies of the tables on memory nodes.", prometheus.GaugeValue, uint64(r.Copies))
	send("ndd_nodes_without", "Things that could not be had of the memory nodes; the log says which.", prometheus.GaugeValue, uint64(len(r.Notes)))
	for i := range r.Nodes {
		for _, f := range nodeFigures {
			send("ndd_node_"+f.name, f.help, f.kind, f.value(&r.Nodes[i]), strconv.Itoa(r.Nodes[i].Node))
		}
	}
}
