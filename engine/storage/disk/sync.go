package disk

import (
	"os"
	"runtime"
)

// syncAll makes everything durable that was written to the file system of dir. It is nil where the
// system has no call for that.
var syncAll func(dir string) error

// syncDir makes the names in a folder durable, on the systems that can.
func syncDir(d *os.File) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	return d.Sync()
}
