package rewrite

// A cut is a range of bytes that a copy leaves out. If fields are added, it is the place for the fields of a
// document: an offset, or a row of a Parquet file.
type cut struct {
	from, to int64
	note     int // note in the document's verdict
}

// edits are the verdicts about the units of a file.
type edits struct {
	units, kept int
	lost        bool     // something could not be read
	rows        []int64  // rows to leave out of a Parquet file, numbered from 1
	end         int64    // offset where the file is damaged and the units end
	damage      []string // descriptions of the parts that cannot be read

	// Edits of the part that is not copied yet:
	cuts   []cut
	starts []int64 // offsets of records
}

// isLost reports whether no unit of the file could be judged.
func (e *edits) isLost() bool { return e.units == 0 && e.lost }
