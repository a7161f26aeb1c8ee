package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kill ends the server at once, and starts it again.
func (d *rollingDay) kill(ctx context.Context) error {
	d.measure()
	d.server.stop()
	d.current.Store(nil)
	return d.start(ctx)
}

// killStarting kills the server, and then one that is starting.
func (d *rollingDay) killStarting(ctx context.Context) error {
	d.measure()
	d.server.stop()
	d.current.Store(nil)
	if err := d.killed(ctx, "serve", "-i", d.index, "--listen", "127.0.0.1:0", "--admin", "off", "--quiet"); err != nil {
		return err
	}
	return d.start(ctx)
}

// stopAndCheck stops the server, checks the index, and starts it again.
func (d *rollingDay) stopAndCheck(ctx context.Context) error {
	if err := d.stop(); err != nil {
		return err
	}
	if err := d.ndd(ctx, "check", d.index); err != nil {
		return err
	}
	return d.start(ctx)
}

// stopAndMerge makes one segment of all while the server is stopped.
func (d *rollingDay) stopAndMerge(ctx context.Context) error {
	if err := d.stop(); err != nil {
		return err
	}
	if err := d.ndd(ctx, "merge", d.index); err != nil {
		return err
	}
	return d.start(ctx)
}

// killMerging kills a merge.
func (d *rollingDay) killMerging(ctx context.Context) error {
	if err := d.stop(); err != nil {
		return err
	}
	if err := d.killed(ctx, "merge", d.index); err != nil {
		return err
	}
	return d.start(ctx)
}

// killed runs ndd and kills it soon, if it has not come to its end.
func (d *rollingDay) killed(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, d.binary, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	sleep(ctx, time.Duration(d.rng.IntN(200))*time.Millisecond)
	cmd.Process.Kill()
	cmd.Wait() // which says that it was killed
	return ctx.Err()
}

// ndd runs a command that must do what it is told.
func (d *rollingDay) ndd(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, d.binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ndd %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// newTokens writes a file with a new token, and the one before.
func (d *rollingDay) newTokens() error {
	d.tokens = filepath.Join(d.dir, "tokens")
	d.tokenList = append([]string{fmt.Sprintf("token-%016x", d.rng.Uint64())}, d.tokenList...)
	d.tokenList = d.tokenList[:min(len(d.tokenList), 2)]
	text := strings.Join(d.tokenList, " write\n") + " write\n"
	next := d.tokens + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, d.tokens)
}

// hangUp gives the server a new token, which crawlers use as soon as it is known. The last one is known until the next time, and
// the one before that no more.
func (d *rollingDay) hangUp(ctx context.Context) error {
	old := d.tokenList
	if err := d.newTokens(); err != nil {
		return err
	}
	if err := d.signal(syscall.SIGHUP); err != nil {
		return err
	}
	c := d.client(d.tokenList[0])
	for limit := time.Now().Add(dayTimeout); ; {
		_, err := c.Stats(ctx)
		if err == nil {
			break
		}
		if time.Now().After(limit) {
			return fmt.Errorf("a new token is not known %v after SIGHUP: %w", dayTimeout, err)
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	if len(old) == 2 {
		if _, err := d.client(old[1]).Stats(ctx); err == nil {
			d.wrong("a token that was taken out of the file is known after SIGHUP")
		}
	}
	d.current.Store(c)
	return nil
}

// dayTimeout is how long something may take that takes no time.
const dayTimeout = 2 * time.Minute

// backUp copies the index while it is written to, checks the copy, and demands of it all that was stored before.
func (d *rollingDay) backUp(ctx context.Context) error {
	var before []*dayDoc
	for _, c := range d.crawlers {
		c.mu.Lock()
		for _, doc := range c.list {
			if doc.ttl == 0 {
				before = append(before, doc)
			}
		}
		c.mu.Unlock()
	}
	to := filepath.Join(d.dir, "backup")
	defer os.RemoveAll(to)
	if err := d.ndd(ctx, "backup", d.index, to); err != nil {
		return err
	}
	still := map[*dayDoc]bool{} // what was neither deleted nor replaced meanwhile
	for _, c := range d.crawlers {
		c.mu.Lock()
		if c.open == nil {
			for _, doc := range c.list {
				still[doc] = true
			}
		}
		c.mu.Unlock()
	}
	if err := d.ndd(ctx, "check", to); err != nil {
		return err
	}
	found, err := d.foundIn(ctx, to, before)
	if err != nil {
		return err
	}
	for _, doc := range before {
		if still[doc] && !found[doc] {
			d.lost.Add(1)
			d.wrong("%s with %016x was stored before a backup began, and is not in it", doc.id, doc.print)
		}
	}
	return nil
}

// foundIn returns which of some documents an index has, by their fingerprints and IDs.
func (d *rollingDay) foundIn(ctx context.Context, index string, docs []*dayDoc) (map[*dayDoc]bool, error) {
	found := map[*dayDoc]bool{}
	if len(docs) == 0 {
		return found, nil
	}
	queries, rows := filepath.Join(d.dir, "queries.bin"), filepath.Join(d.dir, "rows")
	defer os.Remove(queries)
	defer os.Remove(rows)
	var data []byte
	for _, doc := range docs {
		data = binary.LittleEndian.AppendUint64(data, doc.print)
	}
	if err := os.WriteFile(queries, data, 0o644); err != nil {
		return nil, err
	}
	if err := d.ndd(ctx, "batch", "-i", index, "-k", "0", "-o", rows, queries); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(rows)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(string(line), "\n"), "\t")
		if row, err := strconv.Atoi(fields[0]); err == nil && len(fields) == 4 && docs[row].id == fields[3] {
			found[docs[row]] = true
		}
	}
	return found, nil
}

// measure notes how much memory the server has taken at most.
func (d *rollingDay) measure() {
	d.memory = max(d.memory, statusBytes(d.server.cmd.Process.Pid, "VmHWM"))
}
