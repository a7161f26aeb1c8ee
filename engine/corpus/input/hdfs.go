package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/ndd/engine/storage/object"
)

// Files of Hadoop's file system are read through the command of its client, which knows the cluster and the user's
// rights:
//
//	hdfs dfs -ls -R hdfs://...    lists files with their sizes; it also matches patterns
//	hdfs dfs -cat hdfs://...      reads a file
//
// Each call starts a Java machine, which takes about a second. The client cannot read a part of a file. So a file that
// is not read from its beginning, such as Parquet, is first copied to a temporary file.

// isHDFS reports whether a path names a file of Hadoop's file system.
func isHDFS(path string) bool { return strings.HasPrefix(path, "hdfs://") }

// A hadoopCommand is a running command of the Hadoop client. Read returns its output.
type hadoopCommand struct {
	io.ReadCloser
	ctx    context.Context
	cmd    *exec.Cmd
	errors bytes.Buffer
	end    error // error of Read after the command has ended
	n      int64 // bytes read
	bytes  int64 // bytes that are due; -1 if unknown
}

// A hadoopFile is an open file of Hadoop's file system.
type hadoopFile struct {
	*hadoopCommand
	file     File
	copyOnce sync.Once
	temp     *os.File // a copy, once ReadAt was called
	err      error    // error of the copy
}

// openHDFS opens a file for reading.
func openHDFS(ctx context.Context, f File) (*hadoopFile, error) {
	if !f.listed {
		for e, err := range listHDFS(ctx, f.Path) {
			if err != nil {
				return nil, err
			}
			if e.Path == f.Path {
				f.listed, f.bytes = true, e.Bytes
			}
		}
	}
	command, err := startHadoopCat(ctx, f)
	return &hadoopFile{hadoopCommand: command, file: f}, err
}

// ReadAt implements [io.ReaderAt].
func (h *hadoopFile) ReadAt(p []byte, offset int64) (int, error) {
	h.copyOnce.Do(func() {
		if h.temp, h.err = os.CreateTemp("", "ndd-hdfs-*"); h.err == nil {
			os.Remove(h.temp.Name()) // the open file remains
			h.err = h.file.Copy(h.ctx, h.temp)
		}
	})
	if h.err != nil {
		return 0, h.err
	}
	return h.temp.ReadAt(p, offset)
}

// Close ends the command and releases the copy.
func (h *hadoopFile) Close() error {
	h.temp.Close() // it may be nil
	return h.hadoopCommand.Close()
}

// startHadoopCat starts to read a file. The client takes its name as a pattern.
func startHadoopCat(ctx context.Context, f File) (*hadoopCommand, error) {
	return startHadoop(ctx, hadoopPattern.ReplaceAllString(f.Path, `\$0`), f.Size(), "-cat")
}

// hadoopPattern matches the characters with a meaning in a pattern.
var hadoopPattern = regexp.MustCompile(`[][{}*?\\]`)

// startHadoop starts a command of the client for a path. It reads up to bytes, which is -1 if it is unknown.
func startHadoop(ctx context.Context, path string, bytes int64, args ...string) (*hadoopCommand, error) {
	h := &hadoopCommand{ctx: ctx, bytes: bytes,
		cmd: exec.CommandContext(ctx, "hdfs", append(append([]string{"dfs"}, args...), path)...)}
	h.cmd.Stderr, h.cmd.WaitDelay = &h.errors, time.Second
	out, err := h.cmd.StdoutPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s: reading it needs the command hdfs of the Hadoop client, which is not on PATH", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h.ReadCloser = out
	return h, nil
}

// Read implements [io.Reader]. The output ends without an error only if the command succeeded and was complete.
func (h *hadoopCommand) Read(p []byte) (int, error) {
	if h.end != nil {
		return 0, h.end
	}
	n, err := h.ReadCloser.Read(p)
	if h.n += int64(n); err == nil {
		return n, nil
	}
	switch failed := h.cmd.Wait(); {
	case h.ctx.Err() != nil:
		err = h.ctx.Err()
	case failed != nil:
		err = fmt.Errorf("%s: %w: %s", strings.Join(h.cmd.Args[:len(h.cmd.Args)-1], " "), failed, lastLine(h.errors.String()))
	case h.bytes >= 0 && h.n != h.bytes:
		err = fmt.Errorf("%w: %d bytes, and its listing has %d", io.ErrUnexpectedEOF, h.n, h.bytes)
	}
	h.end = err
	return n, err
}

// Close ends the command.
func (h *hadoopCommand) Close() error {
	if h.end != nil {
		return nil
	}
	h.end = os.ErrClosed
	h.cmd.Process.Kill() // it may have ended
	h.ReadCloser.Close()
	h.cmd.Wait() // its error only says that it was killed
	return nil
}

// lastLine returns the last line of a text, which has the reason of a failure.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// hadoopLine matches a line of a listing: kind and rights, replicas, owner, group, bytes, date, time, path.
var hadoopLine = regexp.MustCompile(`^([-d])\S+\s+\S+\s+.*?\s(\d+)\s+\d{4}-\d\d-\d\d\s+\d\d:\d\d\s(.+)$`)

// listHDFS yields the files that a path of Hadoop's file system names, as [object.Store.List] does for objects.
func listHDFS(ctx context.Context, path string) iter.Seq2[object.Entry, error] {
	return func(yield func(object.Entry, error) bool) {
		out, err := startHadoop(ctx, path, -1, "-ls", "-R")
		if err != nil {
			yield(object.Entry{}, err)
			return
		}
		defer out.Close()
		// The listing may omit the scheme and the host, so take them from the path.
		_, rest, _ := strings.Cut(path, "://")
		host, _, _ := strings.Cut(rest, "/")
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			// A line is a file, a folder, empty, or the number of entries.
			fields := hadoopLine.FindStringSubmatch(lines.Text())
			if fields == nil && lines.Text() != "" && !strings.HasPrefix(lines.Text(), "Found ") {
				yield(object.Entry{}, fmt.Errorf("%s: hdfs dfs -ls: a line that is no file: %.200q", path, lines.Text()))
				return
			}
			if fields == nil || fields[1] == "d" {
				continue
			}
			bytes, err := strconv.ParseInt(fields[2], 10, 64)
			if strings.HasPrefix(fields[3], "/") {
				fields[3] = "hdfs://" + host + fields[3]
			}
			if !yield(object.Entry{Path: fields[3], Bytes: bytes}, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(object.Entry{}, fmt.Errorf("%s: %w", path, err))
		}
	}
}
