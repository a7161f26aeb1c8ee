// Package ingest extracts the texts of inputs on all cores, has something made of each, and hands
// that on in the order of the inputs: fingerprints ([Run]), or whatever a caller of [Extract]
// makes, such as sets of shingles.
//
//	             ┌─► worker: extract, make ─┐
//	inputs ─► scan ─► worker ...            ├─► emit, in order
//	             └─► worker ...             ┘
//	             └──── queue of batches ───►┘
//
// One goroutine scans (package format) and puts units into batches of about 128 KiB of text, so
// that a hand-over between goroutines, about a microsecond, is small compared with the work on a batch,
// about a millisecond. Package parallel passes the batches to the workers and back to the goroutine
// that called, in the order of the inputs, which emits their results.
//
// # Memory
//
// Batches in flight are bounded by number and by bytes: the scanner waits when it is ahead. A quarter
// of the bytes is for data decompressed and decoded ahead of it, where there are several threads. So the
// total is about the budget of 256 MiB or, if that is more, two of the largest document allowed,
// whatever the inputs hold.
//
// # Concurrency
//
// Run and Extract may be called from several goroutines at once. Emit and progress are called from
// the goroutine that called them. All their goroutines have ended when they return.
package ingest
