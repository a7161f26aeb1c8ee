package copies

// Sets are the sets of signatures of one document. A set is nil if the document is not compared by it.
type Sets struct {
	Method   Method // the requested method; with Auto, the method for the language
	Own      []uint64
	Winnow   []uint64 // only with Auto
	Shingles []uint64 // only with Auto, if Own has too few signatures
	Covered  uint8    // share of the text that the signatures of Own cover, in percent; see [signature.Gatherer.Covered]
}
