package numa

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/oracle/must"
)

func init() {
	thisCPU = func() (cpu, node int, err error) {
		var c, n uint32
		_, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&n)), 0)
		return int(c), int(n), errnoError(e)
	}
}

// TestPinEnds checks that after pinned workers have ended, their threads may use every processor again.
func TestPinEnds(t *testing.T) {
	h := New(Options{})
	p := h.Nodes()[0]
	last := UsableNode{ID: p.ID, CPUs: p.CPUs[len(p.CPUs)-1:]}
	for range 20 {
		h.Each(last, 4, func(int) { time.Sleep(time.Millisecond) })
	}
	var all sync.WaitGroup
	for range 8 * runtime.NumCPU() {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if got := threadAffinity(t); !slices.Equal(got, allowedNow(t)) {
				t.Errorf("a thread may use processors %v, want %v", got, allowedNow(t))
			}
			time.Sleep(time.Millisecond)
		})
	}
	all.Wait()
}

// threadAffinity returns the processors that the calling thread may use.
func threadAffinity(t *testing.T) (cpus []int) {
	set := unix.NewCPUSet(8192)
	must.Do(t, unix.SchedGetaffinityDynamic(0, set))
	for cpu := range 8192 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// allowedNow returns the processors that the process may use.
func allowedNow(t *testing.T) []int {
	a, err := readPermission(os.DirFS("/"))
	if err != nil || a.CPUs == nil {
		t.Fatal(a, err)
	}
	return a.CPUs
}
