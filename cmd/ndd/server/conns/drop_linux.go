package conns

import (
	"io"
	"net"
	"syscall"
)

// drop waits until something has come, and throws at most len(p) bytes of it away.
func drop(c net.Conn, p []byte) (n int, err error) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c.Read(p)
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, _, failed = syscall.Recvfrom(int(fd), p, syscall.MSG_TRUNC) // of TCP: no byte is copied
			if failed != syscall.EINTR {
				return failed != syscall.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: failed}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
