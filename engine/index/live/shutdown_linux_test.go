package live

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/oracle/must"
)

var shutdowns = flag.Int("shutdowns", 2, "how often TestShutDown cuts a file system off, where this process may "+
	"mount one")

// TestShutDown cuts a real file system off from its disk while processes insert into an index. It mounts ext4 in a
// file, shuts it down without writing the journal, and mounts it again. All acknowledged documents are stored. Only
// acknowledgements before the shutdown count: Linux (seen with 6.18) lets a concurrent fsync return without an error
// although its transaction is dropped. A program of twenty lines shows the same. The test needs root and loop devices;
// without them it is skipped.
func TestShutDown(t *testing.T) {
	image, mountDir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	command := func(name string, arguments ...string) error {
		out, err := exec.Command(name, arguments...).CombinedOutput()
		if err != nil {
			t.Logf("%s %v: %v: %s", name, arguments, err, out)
		}
		return err
	}
	mount := func() error { return command("mount", "-o", "loop", image, mountDir) }
	if os.Getuid() != 0 || os.WriteFile(image, nil, 0o600) != nil || os.Truncate(image, 64<<20) != nil ||
		command("mkfs.ext4", "-q", image) != nil || mount() != nil {
		t.Log("no file system can be mounted here: nothing was cut off")
		return
	}
	unmount := func() {
		if unix.Unmount(mountDir, 0) != nil {
			unix.Unmount(mountDir, unix.MNT_DETACH)
		}
	}
	t.Cleanup(unmount)
	dir := filepath.Join(mountDir, "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Sketches: true}))
	acknowledged := told{}
	for range *shutdowns {
		acknowledged.write(t, dir, false, func(p *os.Process) {
			if err := shutDown(mountDir); err != nil {
				t.Errorf("%s: %v", mountDir, err)
			}
			p.Kill()
		})
		unmount()
		must.Do(t, mount())
	}
	acknowledged.check(t, dir)
}

// shutDown cuts the file system at a path off: FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH.
func shutDown(path string) error {
	const request, withoutJournal = 0x8004587d, 2
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), request, withoutJournal)
}
