package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A serverProcess is a server in a process of its own.
type serverProcess struct {
	cmd     *exec.Cmd
	address string
}

// startServer builds a program of this module, unless it is in the folder already, starts it, and waits until it is
// ready.
func startServer(ctx context.Context, dir, program string, args []string) (*serverProcess, error) {
	binary := filepath.Join(dir, filepath.Base(program))
	if _, err := os.Stat(binary); err != nil {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "example.org/ndd/"+strings.TrimPrefix(program, "./"))
		build.Env = append(os.Environ(), "GOTMPDIR="+dir) // dir is removed even if the build is killed
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", program, err, out)
		}
	}
	s := &serverProcess{cmd: exec.CommandContext(ctx, binary, args...)}
	var messages bytes.Buffer
	s.cmd.Stderr = &messages
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, after, ok := strings.Cut(line, "http://")
	if s.address, _, _ = strings.Cut(after, " "); !ok || err != nil {
		s.stop()
		return nil, fmt.Errorf("%s did not become ready: %q, %v\n%s", filepath.Base(binary), line, err, &messages)
	}
	go io.Copy(io.Discard, out) // until it ends
	return s, nil
}

// measure runs a load against the server, and returns the server's processor time, too.
func (s *serverProcess) measure(ctx context.Context, l *load) (*loadResult, time.Duration, error) {
	before := processTime(s.cmd.Process.Pid)
	result, err := l.run(ctx)
	spent := processTime(s.cmd.Process.Pid) - before
	if err == nil && result.answered == 0 {
		err = errors.New("nothing was answered")
	}
	return result, spent, err
}

// stop ends the server.
func (s *serverProcess) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait() // its error says that the process was killed
}

// processTime returns the CPU time of a process, in units of 10 ms, or 0 if the system has no /proc.
func processTime(pid int) time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(data), ") ")
	var utime, stime int64
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	fmt.Sscan(fields[11], &utime)
	fmt.Sscan(fields[12], &stime)
	return time.Duration(utime+stime) * 10 * time.Millisecond
}
