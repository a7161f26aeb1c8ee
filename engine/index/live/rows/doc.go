// Package rows holds the properties of rows of segments and memtables, except their fingerprints: document numbers
// ([Numbers]), expiry ([Expiries], [Clock]), deletions ([Tombstones]), IDs ([IDIndex]), and the comparison of sketches
// ([Verifier]).
package rows
