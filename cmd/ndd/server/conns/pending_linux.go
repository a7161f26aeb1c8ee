package conns

import (
	"net"

	"golang.org/x/sys/unix"
)

// pending returns whether a connection waits to be accepted: an Accept whose deadline passed before it began has not looked.
func pending(l net.Listener) (waits bool) {
	t, ok := l.(*net.TCPListener)
	if !ok {
		return false
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		waits = err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
	})
	return waits
}
