// Package ingest turns inputs into fingerprints on all cores and hands them on in the order of the inputs.
//
//	             ┌─► worker: extract, tokenise, hash ─┐
//	inputs ─► scan ─► worker ...                      ├─► emit, in order
//	             └─► worker ...                       ┘
//	             └──────── queue of batches ─────────►┘
//
// One goroutine scans (package document) and puts units into batches of about 64 KiB of text, so that a hand-over
// between goroutines, about a microsecond, is small beside the work on a batch, about a millisecond. Package
// parallel passes the batches to the workers and back to the goroutine that called [Run], in the order of the
// inputs, which emits their records.
//
// # Memory
//
// Batches in flight are bounded by number and by bytes: the scanner waits when it is ahead. So the total is about
// the budget of 256 MiB or, if that is more, two of the largest document allowed, whatever the inputs hold.
//
// # Concurrency
//
// Run may be called from several goroutines at once. Its callbacks are called from the goroutine that called
// it. All its goroutines have ended when it returns.
package ingest
