package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

func init() { syncAll = syncFileSystem }

func syncFileSystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
