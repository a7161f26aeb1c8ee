package wal

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Sync says when records become durable. [Always] is 0, [Never] is negative, and any other value
// is the interval at which the log is made durable.
//
// A record whose [Log.Sync] has returned survives the end of the process, kill -9 included, with
// every value: the system has it. They differ in what a power cut or a crash of the system takes.
type Sync time.Duration

// The values of Sync that are not an interval.
const (
	Always Sync = 0  // a power cut takes no acknowledged record
	Never  Sync = -1 // it takes what the system has not written by itself
)

// ParseSync returns the value that String returns the text of: always, never, interval=100ms.
func ParseSync(text string) (Sync, error) {
	switch text {
	case "always":
		return Always, nil
	case "never":
		return Never, nil
	}
	if interval, ok := strings.CutPrefix(text, "interval="); ok {
		if d, err := time.ParseDuration(interval); err == nil && d >= time.Millisecond {
			return Sync(d), nil
		}
	}
	return 0, fmt.Errorf("%q is none of always, never and interval=DURATION, such as interval=100ms, at least 1ms", text)
}

func (s Sync) String() string {
	switch {
	case s == Always:
		return "always"
	case s < 0:
		return "never"
	}
	return "interval=" + time.Duration(s).String()
}

// Sync waits until the record at that position, and all before it, are as durable as [Options.Sync]
// demands, so that they may be acknowledged. One call to the system serves all waiting goroutines:
// the first writes and syncs the pending records; those appended meanwhile wait for the next call.
// If ctx ends first the record may become durable or not.
func (l *Log) Sync(ctx context.Context, at Position) error {
	for {
		l.mu.Lock()
		if err := l.ifWithdrawn(at); err != nil {
			l.mu.Unlock()
			return err
		}
		switch {
		case at <= l.done:
			l.mu.Unlock()
			return nil
		case l.err != nil:
			defer l.mu.Unlock()
			return l.err
		case at >= l.next:
			l.mu.Unlock()
			panic(fmt.Sprintf("wal: Sync of position %d, of %d", at, l.next-1))
		case l.writing == nil && l.asking > 0:
			l.mu.Unlock()
			runtime.Gosched() // who asked has been told, and takes the writer as soon as it runs
			continue
		case l.writing == nil:
			l.lead(nil)
			continue
		}
		wait := l.writing
		l.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// write writes all pending records and calls then before another goroutine writes. Callers of Sync
// let it pass: writes of others serve them all, but not this one, which on one processor would find
// the writer taken whenever it runs.
func (l *Log) write(then func() error) error {
	l.mu.Lock()
	l.asking++
	for l.err == nil && l.writing != nil {
		wait := l.writing
		l.mu.Unlock()
		<-wait
		l.mu.Lock()
	}
	l.asking--
	if l.err != nil {
		defer l.mu.Unlock()
		return l.err
	}
	return l.lead(then)
}

// lead writes the pending records, and syncs them if [Options.Sync] demands it, for all waiting
// goroutines; then it calls then, unless nil. It is called with mu locked and nobody writing, and
// unlocks mu.
func (l *Log) lead(then func() error) error {
	l.writing = make(chan struct{})
	l.mu.Unlock()
	// Those who waited for the last sync are about to append again. Without this the first of them
	// would sync its record alone, and the others the next time: half as many a sync.
	runtime.Gosched()
	l.mu.Lock()
	batches, last := l.queue, l.next-1
	l.queue = nil
	l.mu.Unlock()

	written, err := l.file.write(batches)
	synced := error(nil) // of what was written, be it all or not
	if l.sync == Always && (err == nil || written > 0 && !l.file.lost) {
		synced = l.file.sync()
	}
	if err = cmp.Or(err, synced); err == nil && then != nil {
		err = then()
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.writing)
	l.writing = nil
	if err != nil {
		l.fail(err)
		if written > 0 && synced == nil && !l.file.lost {
			l.done = batches[written-1].last()
		}
		l.queue = append(batches[written:], l.queue...)
		l.file.abandon()
		return l.err
	}
	l.done = last
	l.recycle(batches)
	return nil
}

// fail keeps the error of a call to the disk. It needs l.mu, or that nobody else has the log.
func (l *Log) fail(err error) {
	l.err = fmt.Errorf("write-ahead log: %w; nothing is acknowledged until it is opened again", err)
	l.failing.Store(true)
}

// Resume lets a log go on after a failed write or creation of a file, on a disk that was full and
// has space again. It makes the log end, durably, where it did before that call. The next Sync
// writes the records that were not written and not withdrawn, including those whose Sync returned
// the error, so that the log stays equal to the owner's memory. After a failed sync Resume returns
// the error and changes nothing.
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

// spareMax is the number of batches kept for reuse.
const spareMax = 4

// recycle keeps batches for reuse.
func (l *Log) recycle(batches []*batch) {
	for _, b := range batches {
		if len(l.spare) < spareMax && cap(b.data) <= 2*batchBytes {
			l.spare = append(l.spare, b)
		}
	}
}

// syncEach syncs the log at intervals until it is closed.
func (l *Log) syncEach(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.write(l.file.sync) // an error stays in the log, until Resume
		case <-ctx.Done():
			return
		}
	}
}
