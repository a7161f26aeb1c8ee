// Package ingest extracts the texts of inputs on all cores, makes a result from each, and emits the results in the
// order of the inputs. [Run] makes fingerprints. A caller of [Extract] makes its own results, such as sets of
// shingles.
//
//	             ┌─► worker: extract, make ─┐
//	inputs ─► scan ─► worker ...            ├─► emit, in order
//	             └─► worker ...             ┘
//	             └──── queue of batches ───►┘
//
// The scanner (package format) puts units into batches of about 128 KiB of text. The work on a batch takes about a
// millisecond, so the microsecond to pass it between goroutines does not matter. Package parallel passes the batches to
// the workers, and then back to the calling goroutine in the order of the inputs. That goroutine emits their results.
//
// # Memory
//
// The number and the bytes of batches in flight are limited: the scanner waits when it reaches a limit. With several
// threads, a quarter of the bytes is for data that is decompressed and decoded ahead of the scanner. So the total is
// about 256 MiB, the budget, or two documents of the maximum size if that is more. It does not depend on the inputs.
//
// # Concurrency
//
// Several goroutines may call Run and Extract at once. Both call emit from the goroutine that called them. All their
// goroutines have ended when they return.
package ingest
