package copies

import (
	"cmp"
	"fmt"
)

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

// RelationLimits separate the relations. A zero field has its default.
type RelationLimits struct {
	Containment float64 // minimum containment (CCS in CCDet) of all relations except Overlap; default 0.6
	LengthRatio float64 // minimum ratio of sizes (CLR in CCDet) of a revision; default 0.5
	Duplicate   float64 // minimum Jaccard similarity of duplicates; default 0.8
	Whole       float64 // minimum containment that makes Contains of any ratio of sizes; default 0.9
}

// DefaultLimits are the default limits.
var DefaultLimits = RelationLimits{Containment: 0.6, LengthRatio: 0.5, Duplicate: 0.8, Whole: 0.9}

func (l *RelationLimits) check() error {
	for name, limit := range map[string]float64{"ccs": l.Containment, "clr": l.LengthRatio, "duplicate": l.Duplicate,
		"whole": l.Whole} {
		if !(limit >= 0 && limit <= 1) {
			return fmt.Errorf("%s %g: must be above 0 and at most 1", name, limit)
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
	case containment < cmp.Or(l.Containment, DefaultLimits.Containment):
		return Overlap
	case jaccard >= cmp.Or(l.Duplicate, DefaultLimits.Duplicate):
		return Duplicate
	case ratio >= cmp.Or(l.LengthRatio, DefaultLimits.LengthRatio) && containment < cmp.Or(l.Whole, DefaultLimits.Whole):
		return Revised
	case a > b:
		return Contains
	}
	return Contained
}
