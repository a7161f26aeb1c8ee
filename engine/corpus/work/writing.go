package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/storage/store"
)

// An entryWriter writes the entries of a Folder.
type entryWriter struct {
	out    *store.Writer // the current work file; nil if there is none
	name   string        // name of the work file
	files  []fileEntry   // input files whose entries are complete in the work file
	bytes  int64         // size of these input files
	broken bool          // nothing can be written any more

	// State of the input file that is being read.
	tail         []byte // entries that are not in the work file yet
	writtenBytes uint64 // bytes of entries in the work file
	source       string // source of the last document
	spoilt       bool   // the input file could not be read
}

// Keep keeps an entry of the file that is being read.
func (w *Folder) Keep(e *ingest.Entry) {
	if s := e.Skip; s != nil && s.Reason == input.Unreadable && !errors.Is(s, unpack.ErrDamaged) {
		w.spoilt = true // it may be readable later
	}
	if w.broken {
		return
	}
	w.tail = appendEntry(w.tail, e, w.source)
	if e.Skip == nil {
		w.source = e.Source
	}
	if len(w.tail) < tailBytes {
		return
	}
	if len(w.files) > 0 {
		w.Complete() // so that small files need not wait for a large one
	}
	w.flush()
}

// Finish ends the entries of a file. The entries are not kept if the file has changed since the run began, or if its
// versions cannot be distinguished.
func (w *Folder) Finish(f input.File, content format.Checksum) {
	previous, known := w.plan[f.Path]
	current, err := keyOf(w.ctx, f, w.cfg)
	if known && (err != nil || previous != current.digest()) {
		w.warn(f.Path + ": changed while it was read; the next run reads it again")
		known = false
	}
	w.flush()
	l := fileEntry{Bytes: w.writtenBytes, Content: content} // without a key it is no file
	if known && !w.spoilt {
		l.Key = current
	}
	w.files, w.bytes = append(w.files, l), w.bytes+max(current.Size, 0)
	w.writtenBytes, w.source, w.spoilt = 0, "", false
	if w.bytes >= pieceBytes || len(w.files) == pieceFiles {
		w.Complete()
	}
}

// flush writes the tail to the work file. It begins a work file if there is none.
func (w *Folder) flush() {
	if w.broken {
		return
	}
	var err error
	if w.out == nil {
		w.name = fmt.Sprintf("%06d%s", w.next, ending)
		w.next++
		if w.out, err = store.CreateWith(filepath.Join(w.dir, w.name), store.KindWork, 0,
			store.Options{Disk: w.disk}); err != nil {
			w.fail(err)
			return
		}
		w.out.Section("entries")
	}
	if _, err = w.out.Write(w.tail); err != nil {
		w.fail(err)
		return
	}
	w.writtenBytes += uint64(len(w.tail))
	w.tail = w.tail[:0]
}

// Complete ends the work file and publishes it if it has a finished file. Entries of an unfinished file in it are lost.
func (w *Folder) Complete() {
	if w.out == nil {
		return
	}
	if len(w.files) > 0 {
		list, _ := json.Marshal(w.files) // it has strings and numbers only
		w.out.Section("files")
		w.out.Write(list) // Commit returns its error
		if err := w.out.Commit(); err != nil {
			w.fail(err)
			return
		}
	}
	w.out.Abort()
	w.out, w.files, w.bytes = nil, nil, 0
}

// fail ends the writing. Completed work files stay.
func (w *Folder) fail(err error) {
	w.broken = true
	w.warn(w.trouble(err))
	if w.out != nil {
		w.out.Abort()
	}
	w.out, w.files, w.tail = nil, nil, nil
}

func (w *Folder) trouble(err error) string {
	return fmt.Sprintf("--work %s: %v; the job continues, but stores nothing more for another run", w.dir, err)
}
