// Package rows holds what an index knows of the rows of its segments and memtables beside their
// fingerprints: the document numbers ([Numbers]), when documents expire ([Expiries], [Clock]),
// which are deleted ([Tombstones]), which row has an ID ([IDIndex]), and which texts are too long
// or unlike the query ([Verifier]).
package rows
