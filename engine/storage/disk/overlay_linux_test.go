package disk_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestLockBelowOverlay locks a folder in another process, and then an overlay of it in this process. If nothing may
// be mounted, the test ends early; .ci/run is root.
func TestLockBelowOverlay(t *testing.T) {
	if dir := os.Getenv("LOCK_FOLDER"); dir != "" {
		lock, err := disk.LockFolder(dir)
		must.Do(t, err)
		defer lock.Close()
		os.Stdout.WriteString("locked\n")
		os.Stdin.Read(make([]byte, 1))
		return
	}
	dir := t.TempDir() // use a tmpfs, because an overlay cannot be the upper folder of another one
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Logf("nothing is tested: %v", err)
		return
	}
	defer unix.Unmount(dir, 0)
	inBase := func(name string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(path, 0o700))
		return path
	}
	lower, over := inBase("lower"), inBase("over")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockBelowOverlay$")
	cmd.Env = append(os.Environ(), "LOCK_FOLDER="+inBase("lower/index"))
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	_, err = out.Read(make([]byte, 7))
	must.Do(t, err)
	mounted := unix.Mount("overlay", over, "overlay", 0, "lowerdir="+lower+",upperdir="+inBase("upper")+",workdir="+inBase("work"))
	if mounted == nil {
		defer unix.Unmount(over, 0)
		if _, err := disk.LockFolder(filepath.Join(over, "index")); !errors.Is(err, disk.ErrLocked) ||
			!strings.HasSuffix(err.Error(), "in the folder below this overlay") {
			t.Errorf("while the folder below is locked: %v", err)
		}
	}
	in.Close()
	must.Do(t, cmd.Wait())
	if mounted == nil { // the number in the lock file was lost
		lock, err := disk.LockFolder(filepath.Join(over, "index"))
		must.Do(t, err)
		must.Do(t, lock.Close())
	}
}
