package numa

import "sync/atomic"

// A Latch makes a goroutine wait for tasks that it has handed over. Its zero
// value is ready, and it may be used again when a wait is over.
type Latch struct {
	left atomic.Int32 // tasks; and asleepBit
	wake chan struct{}
}

const asleepBit = 1 << 30

// Begin begins a wait for n tasks, which are handed over after it.
func (l *Latch) Begin(n int) {
	if l.wake == nil {
		l.wake = make(chan struct{}, 1)
	}
	l.left.Store(int32(n))
}

// Done reports that one of the tasks is done, from any goroutine. The latch may be gone when it returns.
func (l *Latch) Done() {
	if l.left.Add(-1) == asleepBit {
		l.wake <- struct{}{}
	}
}

// Wait returns when all tasks are done. If their worker is awake, Wait polls a while before it sleeps,
// since to wake a goroutine costs more than a short task; if that must wake up first, Wait leaves the processor to it.
func (l *Latch) Wait(h *Host, awake bool) {
	if awake && h.poll(&h.waiting, func() bool { return l.left.Load() == 0 }) {
		return
	}
	if l.left.Add(asleepBit) != asleepBit {
		<-l.wake
	}
}
