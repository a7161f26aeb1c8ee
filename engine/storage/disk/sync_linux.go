package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

func init() {
	syncAll = syncFileSystem
	flush = func(f *os.File, at, n int64) { // an error comes back from the sync
		_ = unix.SyncFileRange(int(f.Fd()), at, n, unix.SYNC_FILE_RANGE_WRITE)
	}
}

func syncFileSystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
