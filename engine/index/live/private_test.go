package live

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
)

// TestPrivateManifest checks that only the owner can read a manifest with a private key, even after a flush and in
// a backup.
func TestPrivateManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	recipe := simhash.Minwise().WithPrivateKey()
	must.Do(t, Create(dir, Config{Recipe: &recipe, Design: halves(t), IDs: true}))
	private := func(dir string) {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, manifestName))
		must.Do(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", dir, info.Mode())
		}
	}
	private(dir)
	x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
	insert(t, x, rows.Doc{ID: "a", Fingerprint: 1})
	must.Do(t, x.Flush(t.Context()))
	private(dir)
	to := dir + "-backup"
	if _, err := x.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	private(to)
	if got := x.Config().Recipe; *got != recipe || got.Key == simhash.PublishedKey || !got.Private {
		t.Errorf("%+v", got)
	}
}
