package live

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"ndd/engine/storage/store"
)

// Verify says how much of an index [Open] holds against its checksums. It is a
// flag's value (flag.Value, pflag.Value).
type Verify int

const (
	// VerifyFull checks every block of every file before the first answer,
	// at the speed of the checksum (package store): nothing damaged is used.
	VerifyFull Verify = iota

	// VerifyFast checks headers, trailers, footers, the digests of the block
	// checksums and the blocks of sections up to 1 MiB, in milliseconds
	// whatever the size. It does not check the blocks of larger sections,
	// which are the tables' planes, the ids and the names: a bit flipped there
	// may give a wrong answer, though never a crash, until [Index.Verify]
	// finds it.
	VerifyFast
)

var verifyNames = []string{"full", "fast"}

func (v Verify) String() string { return verifyNames[v] }

// Set is the inverse of String.
func (v *Verify) Set(name string) error {
	for i, n := range verifyNames {
		if n == name {
			*v = Verify(i)
			return nil
		}
	}
	return fmt.Errorf("must be full or fast")
}

// Type returns what a command's help calls it.
func (v *Verify) Type() string { return "full|fast" }

// Verify holds every block of the index's files against its checksum, for an
// index that was opened with [VerifyFast]; queries may go on meanwhile. The
// error wraps [store.ErrCorrupt]: answers given since may be wrong, and no
// more should be. progress may be nil.
func (x *Index) Verify(ctx context.Context, threads int, progress func(done, of uint64)) error {
	w, err := x.View()
	if err != nil {
		return err
	}
	defer w.Release()
	return verify(ctx, filesOf(w.version.segments), threads, progress)
}

func verifySmall(files []*store.File) error {
	for _, f := range files {
		if err := f.VerifySmall(); err != nil {
			return err
		}
	}
	return nil
}

func verify(ctx context.Context, files []*store.File, threads int, progress func(done, of uint64)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	of := uint64(0)
	for _, f := range files {
		of += f.Bytes()
	}
	var done atomic.Uint64
	for _, f := range files {
		err := f.Verify(ctx, threads, func(bytes int) {
			if d := done.Add(uint64(bytes)); progress != nil {
				progress(d, of)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
