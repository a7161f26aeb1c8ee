package work

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"ndd/engine/storage/store"
)

// verdictsName is the file of what the comparison of texts has found last.
const verdictsName = "verdicts"

// verdictsOf returns what verdicts depend on: all inputs and some options; "" if the inputs have changed.
func (w *Folder) verdictsOf(options []byte) string {
	if w.key == nil {
		return ""
	}
	return hex.EncodeToString(w.key.Sum(nil)) + " " + hex.EncodeToString(options)
}

// TakeVerdicts returns what KeepVerdicts has kept in a run with the same inputs and options, nil where
// that is not there.
func (w *Folder) TakeVerdicts(ctx context.Context, options []byte) []uint64 {
	verdicts, err := w.readVerdicts(ctx, w.verdictsOf(options))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.warn(err.Error() + "; texts are compared again")
	}
	return verdicts
}

func (w *Folder) readVerdicts(ctx context.Context, of string) (verdicts []uint64, err error) {
	defer store.CatchFault(&err)()
	f, err := store.OpenOn(w.disk, filepath.Join(w.dir, verdictsName), store.KindWork)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Verify(ctx, w.threads, nil); err != nil {
		return nil, err
	}
	own, err := f.Section("of")
	if err != nil || string(own.Data) != of || of == "" {
		return nil, err
	}
	data, err := f.Section("verdicts")
	if err != nil || len(data.Data)%8 != 0 {
		return nil, errors.Join(err, data.Corrupt(0, "%d bytes", len(data.Data)))
	}
	return append([]uint64{}, store.Uint64s(data.Data)...), nil
}

// KeepVerdicts keeps what the comparison of texts has found, for another run with the same inputs and
// options. It replaces the verdicts kept before.
func (w *Folder) KeepVerdicts(options []byte, verdicts []uint64) {
	of := w.verdictsOf(options)
	if of == "" || w.broken {
		return
	}
	out, err := store.CreateWith(filepath.Join(w.dir, verdictsName), store.KindWork, 0, store.Options{Disk: w.disk})
	if err == nil {
		defer out.Abort()
		out.Section("of")
		out.Write([]byte(of)) // Commit returns its error
		out.Section("verdicts")
		out.Write(store.Bytes64(verdicts))
		err = out.Commit()
	}
	if err != nil {
		w.warn(w.trouble(err))
	}
}
