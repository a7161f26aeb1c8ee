// Package parallel hands items to goroutines that work on them, and takes the items back in the
// order in which they were produced.
//
//	                       ┌─► work ─┐
//	produce, in order ─► ──┼─► work ─┼──► emit, in order
//	            │          └─► work ─┘      │
//	            └──────── at most Ahead ────┘
//
// One goroutine produces. Every item goes to whichever worker is free, and the goroutine that
// called [Ordered] emits the oldest one as soon as its worker is done with it. At most
// Options.Ahead items are between their production and the end of their emission, so that
// memory is bounded however slow emit, or one of the items, is. [Each] is the same without emit
// and without order.
//
// A [Queue] has items worked on ahead of their use, in order, without goroutines that produce or emit: the
// reader of a file uses one. Several share a [Room].
//
// Items carry their results: make them pointers, or give them a field that is one. What a worker
// wrote into an item is seen by emit.
//
// A hand-over costs about a microsecond of processor time: make items that take 50 or more.
//
// Whatever ends a run, be it the last item, an error, the context or a panic of emit, all its
// goroutines have ended when the function returns.
package parallel
