package wal

import "fmt"

// Rotate makes all later records go to a new file, and returns the mark between them and those
// before. It waits for nothing and may be called under the caller's lock. The file before is made
// durable before the new one is created, whatever [Options.Sync] is. Where the present file has no
// record yet, it remains.
func (l *Log) Rotate() (Mark, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return Mark{}, l.err
	}
	if l.next > l.first {
		l.number++
		l.first = l.next
	}
	return Mark{l.number, l.next - 1}, nil
}

// Remove removes the files before a mark, which [Log.Rotate] returned: their records are durable
// elsewhere, and that [Options.From] is this mark at the next Open as well. It writes what was
// appended, and returns when the removal is durable. A file that cannot be removed fails this call
// alone; the next one tries again.
func (l *Log) Remove(before Mark) error {
	l.mu.Lock()
	number := l.number
	l.mu.Unlock()
	if before.File > number {
		panic(fmt.Sprintf("wal: Remove of files below %d; the present one is %d", before.File, number))
	}
	if err := l.write(func() error { return l.file.leave(before.File) }); err != nil {
		return err
	}
	return remove(l.disk, l.dir, before.File)
}
