package server

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ndd/engine/storage/disk"
)

// DiskFigures count what is written, and time how long the disk is waited for. They are the hook of the disk that an index
// is written to (disk.Hooked), and of the metrics of its server. They are safe for concurrent use.
type DiskFigures struct {
	began   sync.Map // *disk.Op -> time.Time
	syncs   *prometheus.HistogramVec
	written *prometheus.CounterVec
}

// NewDiskFigures returns figures of nothing.
func NewDiskFigures() *DiskFigures {
	return &DiskFigures{
		syncs:   prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ndd_disk_sync_seconds", Help: "Time of syncs, of the write-ahead log and of other files.", Buckets: latencyBuckets}, []string{"file"}),
		written: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ndd_disk_written_bytes_total", Help: "Bytes written, to the write-ahead log and to other files."}, []string{"file"}),
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
	if filepath.Ext(op.Path) == ".log" {
		kind = "log"
	}
	if op.Call == disk.CallWrite {
		d.written.WithLabelValues(kind).Add(float64(len(op.Data)))
	}
	if began, ok := d.began.LoadAndDelete(op); ok {
		d.syncs.WithLabelValues(kind).Observe(time.Since(began.(time.Time)).Seconds())
	}
}

// storage are the figures of an index's files and of memory.
type storage struct {
	service *service
	options *Options
}

// Describe leaves the figures open: there are none until the index is there.
func (storage) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures.
func (m storage) Collect(to chan<- prometheus.Metric) {
	send := func(name, help string, value float64, labels ...string) {
		var names, values []string
		for i := 0; i < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), prometheus.GaugeValue, value, values...)
	}
	if b := m.options.Budget; b != nil {
		send("ndd_memory_bytes", "Bytes of memory that are reserved, by purpose.", float64(b.Limit().Bytes-b.Left()), "purpose", "index")
		send("ndd_memory_bytes_limit", "Bytes of memory that may be reserved, by purpose.", float64(b.Limit().Bytes), "purpose", "index")
	}
	held, of := m.service.transfers.Bytes()
	send("ndd_memory_bytes", "Bytes of memory that are reserved, by purpose.", float64(held), "purpose", "requests")
	send("ndd_memory_bytes_limit", "Bytes of memory that may be reserved, by purpose.", float64(of), "purpose", "requests")
	x := m.service.index.Load()
	if x == nil {
		return
	}
	t := x.Stats()
	send("ndd_index_unflushed", "Documents that are in memory, and in the log of a durable index, but in no other file yet.", float64(t.Unflushed))
	send("ndd_index_deleted", "Deleted documents that take room until a merge drops them.", float64(t.Deleted))
	send("ndd_index_expired", "Documents whose time is over, likewise.", float64(t.Expired))
	merging := 0.0
	if x.Live().Merging() {
		merging = 1
	}
	send("ndd_index_merging", "1 while files are merged.", merging)
	var files uint64
	tables := map[int]uint64{}
	for _, s := range x.Live().Segments() {
		files += s.FileBytes
		for i, bytes := range s.Tables {
			tables[i] += bytes
		}
	}
	send("ndd_segment_file_bytes", "Bytes of the segments' files, which are mapped unless they are loaded.", float64(files))
	for i, bytes := range tables {
		send("ndd_table_bytes", "Bytes of each table, in all segments.", float64(bytes), "table", strconv.Itoa(i))
	}
	if m.options.Folder != "" {
		send("ndd_log_bytes", "Bytes of the write-ahead log.", float64(logBytes(m.options.Folder)))
	}
}

// logBytes returns the bytes of the write-ahead log in an index's folder.
func logBytes(dir string) (sum int64) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log")) // fails for no such pattern
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil { // else it was emptied meanwhile
			sum += info.Size()
		}
	}
	return sum
}
