// Package parallel passes items to goroutines that work on them. It returns the items in the order of their
// production.
//
//	                       ┌─► work ─┐
//	produce, in order ─► ──┼─► work ─┼──► emit, in order
//	            │          └─► work ─┘      │
//	            └──────── at most Window ───┘
//
// One goroutine produces. Every item is passed to any free worker. The goroutine that called [Ordered] emits the
// oldest item when its worker has finished. At most Options.Window items are between production and the end of
// emission, so memory is limited even if emit, or one of the items, is slow. [Each] is the same without emit and
// without order.
//
// A [Queue] works on items in advance, in order, without goroutines that produce or emit. The reader of a file uses
// one. Several queues can share a [Limit].
//
// Items carry their results, so they are pointers or contain one. Emit sees the writes of the worker.
//
// Passing an item costs about a microsecond of CPU time. Items should take at least 50.
//
// A run may end with the last item, an error, the context or a panic of emit. In all cases its goroutines have ended
// when the function returns.
package parallel
