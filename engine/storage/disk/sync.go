package disk

import (
	"os"
	"runtime"
)

// syncAll makes everything durable that was written to the file system of dir. It is nil where the
// system has no call for that.
var syncAll func(dir string) error

// flushEach is the number of bytes after which a [flushed] file begins to reach the disk, so that the
// sync of a file of gigabytes finds little to do. Without that, dedup --write-kept of one file of 400 MB
// waited for its sync in a tenth of its time, with no processor in use.
const flushEach = 16 << 20

// flush asks the system to write some bytes of a file to the disk, and does not wait for that. It is nil
// where the system has no call for that.
var flush func(f *os.File, at, n int64)

// A flushed is a new file that is written from its beginning to its end.
type flushed struct {
	handle
	written int64
}

func (f *flushed) Write(p []byte) (int, error) {
	n, err := f.handle.Write(p)
	from, to := f.written/flushEach, (f.written+int64(n))/flushEach
	if f.written += int64(n); from < to && flush != nil {
		flush(f.file, from*flushEach, (to-from)*flushEach)
	}
	return n, err
}

// syncDir makes the names in a folder durable, on the systems that can.
func syncDir(d *os.File) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	return d.Sync()
}
