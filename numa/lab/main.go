//go:build linux

// Command lab is the first process, /init, of a small Linux machine that runs one test program and ends. The script
// run in this folder starts the machine.
//
//	kernel --> /init, mounts /proc, /sys, /tmp, cgroups --> /test ARGUMENTS --> power off
//	           "ndd-lab: begin"                                 "ndd-lab: status 0"
//
// The file /args has the working directory in its first line, and then one argument per line.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

var mounts = []struct{ kind, path string }{
	{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"},
}

func main() {
	fmt.Println("\nndd-lab: begin") // the firmware leaves half a line
	status, err := run()
	if err != nil {
		fmt.Println("ndd-lab:", err)
	}
	fmt.Printf("ndd-lab: status %d\n", status)
	syscall.Sync()
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}

func run() (status int, err error) {
	for _, m := range mounts {
		if err := os.MkdirAll(m.path, 0o755); err != nil {
			return 1, err
		}
		if err := syscall.Mount(m.kind, m.path, m.kind, 0, ""); err != nil && !errors.Is(err, syscall.EBUSY) {
			return 1, fmt.Errorf("mount %s: %w", m.path, err)
		}
	}
	text, err := os.ReadFile("/args")
	if err != nil {
		return 1, err
	}
	args := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	cmd := exec.Command("/test", args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = args[0], os.Stdout, os.Stderr
	cmd.Env = []string{"HOME=/tmp", "TMPDIR=/tmp", "PATH=/"}
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case err != nil:
		return 1, err
	}
	return 0, nil
}
