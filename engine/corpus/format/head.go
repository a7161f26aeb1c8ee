package format

// A Head describes the documents of a file, as far as its beginning shows.
type Head struct {
	Format Format
	Names  []string // the fields of the first record, or of the table; nil if documents have none
	Tabs   bool     // CSV: fields are separated by tabs
	End    int64    // CSV: end of the record with the field names, as an offset in the decompressed file
}

// Records reports whether documents are records, to which fields can be added.
func (h *Head) Records() bool {
	return h.Format == JSONL || h.Format == JSON || h.Format == CSV || h.Format == Parquet
}
