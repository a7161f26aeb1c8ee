package copies

import "fmt"

// Relation is how two documents are related.
type Relation uint8

// The relations; see the package comment.
const (
	Overlap Relation = iota
	Duplicate
	Revised
	Contains  // the first contains the second
	Contained // the second contains the first
)

// String returns the name of the relation.
func (r Relation) String() string {
	return [...]string{"overlap", "duplicate", "revised", "contains", "contained"}[r]
}

// swapped returns the relation of the documents in the other order.
func (r Relation) swapped() Relation {
	switch r {
	case Contains:
		return Contained
	case Contained:
		return Contains
	}
	return r
}

// RelationLimits separate the relations.
type RelationLimits struct {
	Containment float64 // minimum containment (CCS in CCDet) of all relations except Overlap
	LengthRatio float64 // minimum ratio of sizes (CLR in CCDet) of a revision
	Duplicate   float64 // minimum Jaccard similarity of duplicates
	Whole       float64 // minimum containment that makes Contains of any ratio of sizes
}

// DefaultLimits are the limits unless [Options] have others.
var DefaultLimits = RelationLimits{Containment: 0.6, LengthRatio: 0.5, Duplicate: 0.8, Whole: 0.9}

// Check returns an error that names a limit out of range.
func (l *RelationLimits) Check() error {
	for name, limit := range map[string]float64{"ccs": l.Containment, "clr": l.LengthRatio, "duplicate": l.Duplicate,
		"whole": l.Whole} {
		if !(limit >= 0 && limit <= 1) {
			return fmt.Errorf("%s %g: must be 0 to 1", name, limit)
		}
	}
	return nil
}

// relation returns the relation of documents with a and b signatures that share some.
func (l *RelationLimits) relation(a, b, shared int) Relation {
	containment := float64(shared) / float64(min(a, b))
	ratio := float64(min(a, b)) / float64(max(a, b))
	jaccard := float64(shared) / float64(a+b-shared)
	switch {
	case containment < l.Containment:
		return Overlap
	case jaccard >= l.Duplicate:
		return Duplicate
	case ratio >= l.LengthRatio && containment < l.Whole:
		return Revised
	case a > b:
		return Contains
	}
	return Contained
}
