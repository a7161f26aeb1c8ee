// Package succinct holds arrays that take little more than their information:
// integers of a fixed width ([Packed]) and bits with select ([Ones]).
//
// Both are views of []uint64 words, as sections of a file hold them, and are
// read-only and safe for many goroutines. A look-up is one or two cache
// misses: one line of a packed array; for a select, a sample and then, when
// ones are about as frequent as everywhere, one line of words behind it.
package succinct
