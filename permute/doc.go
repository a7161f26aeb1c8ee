// Package permute says which tables an index has: bit permutations, and the designs that make a
// handful of sorted tables find every fingerprint within Hamming distance k.
package permute
