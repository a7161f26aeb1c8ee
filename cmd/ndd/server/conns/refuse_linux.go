package conns

import (
	"net"

	"golang.org/x/sys/unix"
)

// refuse has the kernel drop attempts to connect to a listener, so that nobody comes between the last connection
// that is accepted and the end of the socket, which would reset them: who tries waits, and is refused when it is closed.
// Connections that are there, or that the other side has been told of, are not touched. Where it cannot be done, nothing is.
func refuse(l net.Listener) {
	t, ok := l.(*net.TCPListener)
	if !ok {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	dropSYN := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},                  // the flags of the TCP header
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},               // SYN and ACK
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: 0x02}, // SYN alone: somebody connects
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(dropSYN)), Filter: &dropSYN[0]})
	})
}

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
