package dedup

import "example.org/ndd/engine/near/cluster"

// A Row is the number of a document of a corpus, from 0.
type Row = cluster.Row

// A Place is where a document was read.
type Place struct {
	File string // "" if it is unknown
	Row  int64  // line, record or row of the file, from 1; 0 if the file is the document
}

// A Drop is a document that is dropped.
type Drop struct {
	Row      Row
	Kept     string // ID of the kept document; "" in Result.SameURL if KeptRow is a row
	KeptRow  int64  // row of the kept document; -1 if it is not in the corpus
	Distance int
	Likeness
	Cluster int // number of the cluster; 0 if there is none
}

// A Kept is a document that is kept.
type Kept struct {
	ID string
	Place
	Short bool // true if it has too few features for a fingerprint, and so was only compared with equal texts
}
