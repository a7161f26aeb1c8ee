package wal

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
)

// Sync waits until the record at position, and all before it, are durable, or only written with [Options.NoSync].
// Then they may be acknowledged. One system call serves all waiting goroutines: the first one writes and syncs the
// pending records. Records that are appended meanwhile wait for the next call. If ctx ends first, the record may or
// may not become durable.
func (l *Log) Sync(ctx context.Context, position Position) error {
	for {
		// Return if the position is durable, or if it cannot become durable.
		l.mu.Lock()
		if err := l.ifWithdrawn(position); err != nil {
			l.mu.Unlock()
			return err
		}
		switch {
		case position <= l.done:
			l.mu.Unlock()
			return nil
		case l.err != nil:
			defer l.mu.Unlock()
			return l.err
		case position >= l.next:
			l.mu.Unlock()
			panic(fmt.Sprintf("wal: Sync of position %d, of %d", position, l.next-1))
		case l.writing == nil && l.waiters > 0:
			l.mu.Unlock()
			runtime.Gosched() // a waiting caller of write was notified and takes the writer as soon as it runs
			continue
		case l.writing == nil:
			l.lead(nil)
			continue
		}
		// Wait for the writer, which may write this record, too.
		wait := l.writing
		l.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// write writes all pending records and calls action before another goroutine writes. Callers of Sync give it
// precedence. Any write serves all of them, but not this caller: on one processor it would always find the writer
// busy.
func (l *Log) write(action func() error) error {
	l.mu.Lock()
	l.waiters++
	for l.err == nil && l.writing != nil {
		wait := l.writing
		l.mu.Unlock()
		<-wait
		l.mu.Lock()
	}
	l.waiters--
	if l.err != nil {
		defer l.mu.Unlock()
		return l.err
	}
	return l.lead(action)
}

// lead writes the pending records for all waiting goroutines, and syncs them without [Options.NoSync]. Then it
// calls action, unless nil. It is called with mu locked and no writer, and unlocks mu.
func (l *Log) lead(action func() error) error {
	l.writing = make(chan struct{})
	l.mu.Unlock()
	// Goroutines that waited for the last sync are about to append again. Without this call, the first one would sync
	// its record alone, and the others only with the next sync: each sync would serve half as many records.
	runtime.Gosched()
	l.mu.Lock()
	batches, last := l.queue, l.next-1
	l.queue = nil
	l.mu.Unlock()

	// Write and sync without the lock.
	written, err := l.file.write(batches)
	errSync := error(nil) // error of the sync, which follows even a partial write
	if !l.noSync && (err == nil || written > 0 && !l.file.lost) {
		errSync = l.file.sync()
	}
	if err = cmp.Or(err, errSync); err == nil && action != nil {
		err = action()
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.writing)
	l.writing = nil
	// After an error, keep the unwritten batches for Withdraw and Resume.
	if err != nil {
		l.fail(err)
		if written > 0 && errSync == nil && !l.file.lost {
			l.done = batches[written-1].last()
		}
		l.queue = append(batches[written:], l.queue...)
		l.file.abandon()
		return l.err
	}
	l.done = last
	return nil
}

// fail stores the error of a disk call. The caller holds l.mu, or is the only user of the log.
func (l *Log) fail(err error) {
	l.err = fmt.Errorf("write-ahead log: %w; nothing is acknowledged until it is opened again", err)
	l.failing.Store(true)
}

// Resume lets the log continue after a failed write or file creation, when a full disk has space again. It durably
// truncates the log to its length before that call. The next Sync writes the records that were neither written nor
// withdrawn, even if their Sync returned the error. So the log stays equal to the owner's memory. After a failed sync
// Resume returns the error and changes nothing.
func (l *Log) Resume() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || l.err == ErrClosed || l.file.lost || l.writing != nil {
		return l.err
	}
	l.writing = make(chan struct{})
	l.mu.Unlock()
	err := l.file.resume()
	l.mu.Lock()
	close(l.writing)
	l.writing = nil
	if err != nil {
		return fmt.Errorf("write-ahead log: %w; nothing is acknowledged until it is opened again", err)
	}
	l.err = nil
	l.failing.Store(false)
	return nil
}
