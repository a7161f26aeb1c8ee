package live

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

var kills = flag.Int("kills", 0, "how often TestKill kills a process; 0 is 25, or 6 with -short")

// killedFolder names, in the environment, the index that a process of TestKill is to write to.
const killedFolder = "NDD_TEST_KILLED_INDEX"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedFolder); dir != "" {
		writeUntilKilled(dir)
	}
	oracle.NoLeaks(m)
}

const killedWriters = 8

// writeUntilKilled inserts documents from several goroutines and fingerprints the ID of each that was
// acknowledged.
func writeUntilKilled(dir string) {
	x, err := Open(context.Background(), dir, OpenOptions{Write: true, Threads: 1,
		simulation: simulation{flushDocs: 3000}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	for w := range killedWriters {
		go func() {
			begin := 0
			for {
				docs := make([]rows.Doc, 1+rand.IntN(20))
				for i := range docs {
					id := fmt.Sprintf("%d %d %d", os.Getpid(), w, begin+i)
					docs[i] = killedDoc(id)
				}
				if _, err := x.Insert(context.Background(), docs); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				begin += len(docs)
				mu.Lock()
				fmt.Printf("%d %d %d\n", os.Getpid(), w, begin)
				mu.Unlock()
			}
		}()
	}
	select {}
}

// fingerprintOf returns the fingerprint of the document of an ID.
func fingerprintOf(id string) simhash.Fingerprint {
	key := rows.IDKey{1}
	return simhash.Fingerprint(key.Hash(id))
}

// killedDoc returns the document of an ID.
func killedDoc(id string) rows.Doc {
	f := fingerprintOf(id)
	return rows.Doc{ID: id, Fingerprint: f, Sketch: sketchWith(int(f % sketch.Bins))}
}

// told counts the documents that were acknowledged, by process and writer.
type told map[[2]int]int

// write starts a process that inserts documents. After some acknowledgements it calls end, which ends the process. It
// counts all acknowledgements if all is true, otherwise only those before the call of end.
func (a told) write(t *testing.T, dir string, all bool, end func(*os.Process)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedFolder+"="+dir)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	after := rand.IntN(400)
	lines := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == after {
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
			end(cmd.Process)
		}
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break // an incomplete line is no acknowledgement
		}
		var pid, w, upTo int
		_, err = fmt.Sscan(line, &pid, &w, &upTo)
		must.Do(t, err)
		if all || n < after {
			a[[2]int{pid, w}] = upTo
		}
	}
	cmd.Wait() // killed, or by itself with an error
}

// check opens the index and requires all acknowledged documents. The other documents must be a prefix of what each
// writer inserted.
func (a told) check(t *testing.T, dir string) {
	t.Helper()
	x := openFolder(t, dir, OpenOptions{Write: true})
	there := map[[2]int]int{}
	for doc, d := range contents(t, x) {
		var pid, w, n int
		if _, err := fmt.Sscan(d.ID, &pid, &w, &n); err != nil || d != killedDoc(d.ID) {
			t.Fatalf("document %d is %+v, which nobody inserted: %v", doc, d, err)
		}
		there[[2]int{pid, w}]++
	}
	total := 0
	for writer, n := range a {
		total += n
		for i := range max(n, there[writer]) {
			id := fmt.Sprintf("%d %d %d", writer[0], writer[1], i)
			if _, ok, err := x.Find(id); !ok || err != nil {
				t.Fatalf("%q, of %d acknowledged and %d there, is lost: %v", id, n, there[writer], err)
			}
		}
	}
	t.Logf("%d documents acknowledged, %d there", total, x.Stats().Documents)
}

// TestKill kills processes that insert, several times. All acknowledged documents of each writer are stored, unchanged,
// and the stored ones are a prefix of those that it inserted. It does not run in parallel with other tests: a new
// process briefly inherits their locks.
func TestKill(t *testing.T) {
	times := long.Or(6, 25)
	if *kills > 0 {
		times = *kills
	}
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Sketches: true}))
	acknowledged := told{}
	for range times {
		acknowledged.write(t, dir, true, func(p *os.Process) { p.Kill() })
	}
	acknowledged.check(t, dir)
}
