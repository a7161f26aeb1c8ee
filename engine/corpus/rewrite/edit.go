package rewrite

// A cut is a range of bytes that a copy leaves out. Where fields are added, it is the place for the fields of
// a document: an offset, or a row of a Parquet file.
type cut struct {
	from, to int64
	note     int // of the document's verdict
}

// edits are the verdicts about the units of a file.
type edits struct {
	units, kept int
	lost        bool     // something could not be read
	rows        []int64  // to leave out of a Parquet file, from 1
	whole       int64    // offset where the file is damaged and the units end
	damage      []string // what cannot be read, in words

	// Of the part that is not copied yet.
	cuts   []cut
	starts []int64 // of records
}

// isLost reports whether no unit of the file could be judged.
func (e *edits) isLost() bool { return e.units == 0 && e.lost }
