package numa

import "sync/atomic"

// A Latch is how a goroutine waits for tasks that it has handed over. Its zero
// value is ready, and it may be used again when a wait is over.
type Latch struct {
	left atomic.Int32 // tasks; and asleepBit
	wake chan struct{}
}

const asleepBit = 1 << 30

// Begin says that n tasks will be handed over.
func (l *Latch) Begin(n int) {
	if l.wake == nil {
		l.wake = make(chan struct{}, 1)
	}
	l.left.Store(int32(n))
}

// Done says that one of them is done. The latch may be gone when it returns.
func (l *Latch) Done() {
	if l.left.Add(-1) == asleepBit {
		l.wake <- struct{}{}
	}
}

// Wait returns when all are done. Of a worker who is awake it polls a while
// first: to wake a sleeping goroutine costs more than a short task. A worker who must wake up gets this one's processor.
func (l *Latch) Wait(h *Host, awake bool) {
	if awake && h.poll(&h.waiting, func() bool { return l.left.Load() == 0 }) {
		return
	}
	if l.left.Add(asleepBit) != asleepBit {
		<-l.wake
	}
}
