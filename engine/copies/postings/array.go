package postings

import (
	"unsafe"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// A Room limits the memory of sets. The zero value has no limit.
type Room struct {
	Bytes uint64     // of the sets in memory; more go to a temporary file; 0: no limit
	Dir   string     // of the temporary file; default: the system's
	Disk  *disk.Disk // default: the system's
}

// An array is numbers that are appended first and read later, in memory or, beyond the bytes of its
// Room, in a temporary file that is mapped. An error of the file is returned by seal.
type array[T uint32 | uint64] struct {
	room  Room
	all   []T // in memory or, once sealed, mapped
	count uint64
	run   *spill.Run[T] // nil: in memory
	err   error
}

func (a *array[T]) append(numbers []T) {
	a.count += uint64(len(numbers))
	if a.run == nil && a.err == nil && a.room.Bytes > 0 && a.count*uint64(unsafe.Sizeof(*new(T))) > a.room.Bytes {
		if a.run, a.err = spill.Create[T](a.room.Disk, a.room.Dir, "signatures", 1<<20); a.err == nil {
			a.err = a.run.Append(a.all)
			a.all = nil
		}
	}
	switch {
	case a.err != nil:
	case a.run != nil:
		a.err = a.run.Append(numbers)
	default:
		a.all = append(a.all, numbers...)
	}
}

// seal makes the numbers readable; no more may be appended.
func (a *array[T]) seal() error {
	if a.err == nil && a.run != nil && a.all == nil {
		a.all, a.err = a.run.Map()
	}
	return a.err
}

// close releases the numbers. It may be called again.
func (a *array[T]) close() error {
	err := a.run.Close()
	*a = array[T]{room: a.room}
	return err
}
