package postings

import (
	"errors"
	"sync"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// numbers are lists of numbers that are made first and read afterwards: in memory, and behind so many bytes in a temporary file. Add may be
// called by many goroutines.
type numbers struct {
	room Room

	mu    sync.Mutex
	lists []list
	kept  uint64 // bytes in memory
	file  *disk.Temp
	size  uint64   // of the file, in numbers
	all   []uint32 // of the file, mapped
	unmap func() error
}

// A list is in memory, or a part of the file.
type list struct {
	here     []uint32
	from, to uint64
}

// add keeps a list, which must not be changed any more, and returns its number.
func (n *numbers) add(numbers []uint32) (number int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	bytes := 4 * uint64(len(numbers))
	l := list{here: numbers}
	if n.room.Bytes == 0 || n.kept+bytes <= n.room.Bytes {
		n.kept += bytes
	} else {
		if n.file == nil {
			if n.file, err = n.room.Disk.Temp(n.room.Dir, "postings"); err != nil {
				return 0, err
			}
		}
		if _, err := n.file.Write(store.Bytes32(numbers)); err != nil {
			return 0, err
		}
		l = list{from: n.size, to: n.size + uint64(len(numbers))}
		n.size = l.to
	}
	n.lists = append(n.lists, l)
	return len(n.lists) - 1, nil
}

// seal makes the lists readable; none may be added any more.
func (n *numbers) seal() error {
	if n.size == 0 {
		return nil
	}
	mapped, unmap, err := store.Map(n.file.File())
	if err == nil {
		n.all, n.unmap = store.Uint32s(mapped), unmap
	}
	return err
}

// at returns a list, which is valid until close.
func (n *numbers) at(number int) []uint32 {
	l := &n.lists[number]
	if l.from < l.to {
		return n.all[l.from:l.to]
	}
	return l.here
}

// close gives everything back. It may be called again, and on nil.
func (n *numbers) close() error {
	if n == nil {
		return nil
	}
	var err error
	if n.unmap != nil {
		err = n.unmap()
	}
	err = errors.Join(err, n.file.Close())
	n.lists, n.all, n.unmap, n.file = nil, nil, nil, nil
	return err
}
