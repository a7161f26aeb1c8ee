package disk

import (
	"os"
	"runtime"
)

// syncAll makes all files of the file system of dir durable. It is nil on systems without such a call.
var syncAll func(dir string) error

// flushEach is the number of bytes after which a [flushWriter] asks the system to write, so that the final sync of a
// large file is short. Without it, dedup --write-kept of a 400 MB file spent a tenth of its time in that sync, with
// idle processors.
const flushEach = 16 << 20

// flush starts writing n bytes of a file to the disk and does not wait. It is nil on systems without such a call.
var flush func(f *os.File, offset, n int64)

// A flushWriter is a new file that is written sequentially.
type flushWriter struct {
	handle
	written int64
}

func (f *flushWriter) Write(p []byte) (int, error) {
	n, err := f.handle.Write(p)
	first, last := f.written/flushEach, (f.written+int64(n))/flushEach
	if f.written += int64(n); first < last && flush != nil {
		flush(f.file, first*flushEach, (last-first)*flushEach)
	}
	return n, err
}

// syncDir makes the names in a folder durable, on systems that support it.
func syncDir(d *os.File) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	return d.Sync()
}
