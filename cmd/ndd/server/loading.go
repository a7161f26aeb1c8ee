package server

import (
	"sync"
	"sync/atomic"

	"ndd/engine/corpus/simhash"
)

// samplesMax documents are looked at for the command that the ready line gives.
const samplesMax = 1024

// Loading is the progress of building the index, or of reading it into memory. Safe for concurrent use; the
// zero value is ready.
type Loading struct {
	stage     atomic.Pointer[string]
	documents atomic.Int64
	tooFew    atomic.Int64

	mu      sync.Mutex
	samples []sample
	paths   map[string]string // by ID, of documents that may be shown; nil for none
}

// A sample is a document that was loaded.
type sample struct {
	id     string
	sketch sketch
}

// Stage names what is being done, such as "verifying the index".
func (l *Loading) Stage(name string) { l.stage.Store(&name) }

// Loaded counts a document with its fingerprints that went into the index. The first ones are kept,
// so that the ready line can ask for one that is there.
func (l *Loading) Loaded(id string, prints ...simhash.Fingerprint) {
	n := l.documents.Add(1)
	if n > samplesMax && l.paths == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember(id)
	if n > samplesMax {
		return
	}
	l.samples = append(l.samples, sample{id, sketch{prints: prints}})
}

// LeftOut counts a document with too few features for a fingerprint.
func (l *Loading) LeftOut() { l.tooFew.Add(1) }

// String says how far it is.
func (l *Loading) String() string {
	text := "starting"
	if s := l.stage.Load(); s != nil {
		text = *s
	}
	if n := l.documents.Load(); n > 0 {
		text += ", " + counted(n, "document") + " so far"
	}
	return text
}

func (l *Loading) all() []sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.samples
}
