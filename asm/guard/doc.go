// Package guard gives tests memory that ends where it says it ends.
//
//	| no access | Head ............... | ........... | ............... Tail | no access |
//	            ^ first byte                                       last byte ^
//
// A read or a write of one byte past a slice from Tail, or before a slice from
// Head, is a fault that ends the test, also when assembly does it. Seal makes the
// memory in between read-only, so that a kernel that writes to its input faults
// too.
//
// Where the operating system has no such pages (not a Unix), the memory is plain,
// with a pattern around it that is checked at the end of the test: stray writes
// are found there, stray reads are not.
package guard
