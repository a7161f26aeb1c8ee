package plan

import (
	"fmt"
	"math"
	"slices"

	"ndd/engine/index/distribution"
	"ndd/engine/index/table"
	"ndd/permute"
)

// IDs is what an index keeps of documents.
type IDs string

// The kinds of ids.
const (
	IDsNone  IDs = "none"  // fingerprints only
	IDsRows  IDs = "rows"  // the number of each document: log2 n bits
	IDsNames IDs = "names" // and its ID, where it has one
)

// A Purpose is what the time is spent on.
type Purpose string

// The purposes.
const (
	Online Purpose = "online" // queries one at a time
	Batch  Purpose = "batch"  // hundreds at once
)

// A Request describes the index to plan.
type Request struct {
	Fingerprints uint64           // distinct, at most 2^40
	Documents    uint64           // that have them; 0: as many
	K            int              // largest Hamming distance
	Memory       uint64           // bytes that tables and ids may take; 0: not limited
	Tables       int              // number of them; 0: any
	Layout       table.Layout     // empty: any
	Designs      []permute.Design // to choose from; nil: those of the catalogue
	IDs          IDs              // empty: none
	NameBytes    uint64           // of the documents' IDs, and whatever else is kept of each
	Purpose      Purpose          // empty: online
	Seed         uint64           // of the designs
	Sample       *Sample          // nil: uniform fingerprints
}

// FingerprintsMax is how many fingerprints a plan may be for.
const FingerprintsMax = 1 << 40

func (r *Request) check() error {
	switch {
	case r.K < 0 || r.K > permute.MaxK:
		return fmt.Errorf("k = %d: must be 0 to %d", r.K, permute.MaxK)
	case r.Fingerprints > FingerprintsMax:
		return fmt.Errorf("%d fingerprints: at most %d", r.Fingerprints, uint64(FingerprintsMax))
	case r.Documents > 0 && r.Documents < r.Fingerprints, r.Documents > FingerprintsMax:
		return fmt.Errorf("%d documents with %d distinct fingerprints: at least as many, and at most %d", r.Documents,
			r.Fingerprints, uint64(FingerprintsMax))
	case r.Tables < 0 || r.Tables > permute.MaxTables:
		return fmt.Errorf("%d tables: must be 1 to %d", r.Tables, permute.MaxTables)
	case r.IDs != "" && r.IDs != IDsNone && r.IDs != IDsRows && r.IDs != IDsNames:
		return fmt.Errorf("ids %q: must be %s, %s or %s", r.IDs, IDsNone, IDsRows, IDsNames)
	case r.Purpose != "" && r.Purpose != Online && r.Purpose != Batch:
		return fmt.Errorf("purpose %q: must be %s or %s", r.Purpose, Online, Batch)
	case r.Layout != "" && !slices.ContainsFunc(models, func(md model) bool { return md.layout() == r.Layout }):
		return fmt.Errorf("unknown layout %q", r.Layout)
	}
	return nil
}

// boundBytes returns what n distinct uniform keys take at least.
func boundBytes(n uint64) uint64 {
	return uint64(math.Ceil(float64(n) * distribution.Bound(n) / 8))
}

// An Option is a design in a layout, with what it is expected to cost.
type Option struct {
	Design     permute.Design `json:"-"`
	Name       string         `json:"design"`
	Layout     table.Layout   `json:"layout"`
	Tables     int            `json:"tables"`
	Leading    [2]int         `json:"leading"` // least and most
	Radius     [2]int         `json:"radius"`  // least and most
	BucketBits int            `json:"bucket_bits"`
	Probes     float64        `json:"probes"`         // a query
	Candidates float64        `json:"candidates"`     // a query
	Scan       bool           `json:"scan,omitempty"` // a query reads all of one table: probes would cost more
	Cost
	Fits     bool         `json:"fits"`     // in the memory given
	Frontier bool         `json:"frontier"` // no other is better in bytes, online and in batch
	Parts    []table.Part `json:"-"`        // of one table
}

// A Cost is what an option takes: bytes, and nanoseconds a query.
type Cost struct {
	TableBytes uint64  `json:"table_bytes"` // all tables
	IDBytes    uint64  `json:"id_bytes"`
	Bytes      uint64  `json:"bytes"`
	OnlineNS   float64 `json:"online_ns"`
	BatchNS    float64 `json:"batch_ns"`
}

// PerFingerprint returns the bytes of tables and ids for each fingerprint.
func (c *Cost) PerFingerprint(n uint64) float64 { return float64(c.Bytes) / float64(max(n, 1)) }

func (c *Cost) nanoseconds(p Purpose) float64 {
	if p == Batch {
		return c.BatchNS
	}
	return c.OnlineNS
}
