package memory

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPopulate injects what the system may answer to a request to populate memory: where it cannot
// populate, that is no failure; where there is no memory, it is.
func TestPopulate(t *testing.T) {
	b := make([]byte, 3*4096)
	for _, c := range []struct{ first, want error }{
		{nil, nil}, {unix.EINVAL, nil}, {unix.ENOSYS, nil}, {unix.EPERM, nil},
		{unix.EINTR, nil}, {unix.EAGAIN, nil},
		{unix.ENOMEM, unix.ENOMEM}, {unix.EFAULT, unix.EFAULT}, {unix.EHWPOISON, unix.EHWPOISON},
	} {
		calls := 0
		err := populate(b, func(part []byte) error {
			if len(part) != len(b) {
				t.Errorf("a part of %d bytes", len(part))
			}
			if calls++; calls > 1 {
				return nil
			}
			return c.first
		})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v: %v, want %v", c.first, err, c.want)
		}
	}
}
