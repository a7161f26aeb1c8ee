package plan

import (
	"fmt"
	"math"
	"slices"

	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// IDs is the kind of document data that an index keeps.
type IDs string

// The kinds of ids.
const (
	IDsNone  IDs = "none"  // fingerprints only
	IDsRows  IDs = "rows"  // the number of each document: log2 n bits
	IDsNames IDs = "names" // the number and the ID of each document
)

// A Purpose is the kind of queries to optimise for.
type Purpose string

// The purposes.
const (
	Online Purpose = "online" // single queries
	Batch  Purpose = "batch"  // hundreds of queries at once
)

// A Request describes the index to plan.
type Request struct {
	Fingerprints uint64           // distinct, at most 2^40
	Documents    uint64           // number of documents; 0: one per fingerprint
	K            int              // maximum Hamming distance
	Memory       uint64           // maximum bytes of tables and IDs; 0: no limit
	Tables       int              // number of tables; 0: any
	Layout       table.Layout     // empty: any
	Designs      []permute.Design // designs to choose from; nil: the catalogue
	IDs          IDs              // empty: none
	NameBytes    uint64           // bytes of the documents' IDs and of other data per document
	Purpose      Purpose          // empty: online
	Seed         uint64           // seed of the designs
	Sample       *Sample          // nil: uniform fingerprints
}

// FingerprintsMax is the maximum number of fingerprints of a plan.
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

// boundBytes returns the minimum number of bytes for n distinct uniform keys.
func boundBytes(n uint64) uint64 {
	return uint64(math.Ceil(float64(n) * distribution.Bound(n) / 8))
}

// An Option is a design in a layout, with its expected cost.
type Option struct {
	Design     permute.Design `json:"-"`
	Name       string         `json:"design"`
	Layout     table.Layout   `json:"layout"`
	Tables     int            `json:"tables"`
	Leading    [2]int         `json:"leading"` // minimum and maximum
	Radius     [2]int         `json:"radius"`  // minimum and maximum
	BucketBits int            `json:"bucket_bits"`
	Probes     float64        `json:"probes"`         // per query
	Candidates float64        `json:"candidates"`     // per query
	Scan       bool           `json:"scan,omitempty"` // a query reads all of one table, because probes would cost more
	Cost
	Fits     bool   `json:"fits"`     // within the memory limit
	Frontier bool   `json:"frontier"` // faster than all smaller ones, by more than the model may err
	work     []work // work in each table
}

// A Cost is the cost of an option: bytes, and nanoseconds per query.
type Cost struct {
	TableBytes uint64  `json:"table_bytes"` // all tables
	IDBytes    uint64  `json:"id_bytes"`
	Bytes      uint64  `json:"bytes"`
	OnlineNS   float64 `json:"online_ns"`
	BatchNS    float64 `json:"batch_ns"`
}

// PerFingerprint returns the bytes of tables and IDs per fingerprint.
func (c *Cost) PerFingerprint(n uint64) float64 { return float64(c.Bytes) / float64(max(n, 1)) }

func (c *Cost) nanoseconds(p Purpose) float64 {
	if p == Batch {
		return c.BatchNS
	}
	return c.OnlineNS
}
