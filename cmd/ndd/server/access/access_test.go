package access

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

const (
	readToken  = "read-0123456789abcdef"
	writeToken = "write-0123456789abcdef"
	adminToken = "admin-0123456789abcdef"
	tokenLines = "# who may do what\n\n" + readToken + " read\n" + writeToken + "\twrite\n  " + adminToken +
		" admin\n"
)

func TestTokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"good", tokenLines, ""},
		{"one word", readToken + "\n", "line 1: must be a token and a role"},
		{"three words", "\n" + readToken + " read write\n", "line 2: must be a token and a role"},
		{"no role", readToken + " owner\n", "line 1: the role"},
		{"a short token", "secret read\n", "line 1: a token of 6 bytes"},
		{"one twice", tokenLines + readToken + " admin\n", "line 6: the token is already on"},
		{"empty", "# nothing\n\n", "no tokens"},
		{"a long line", strings.Repeat("x", 70_000) + " read\n", "too long"},
		{"too many", manyTokens(tokensMax + 1), "more than 10000"},
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		must.Do(t, os.WriteFile(path, []byte(c.text), 0o600))
		_, err := NewKeyring(path)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) ||
			!strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
		if err != nil && (strings.Contains(err.Error(), "0123456789abcdef") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: the error gives a token away: %v", c.name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "none")
	if _, err := NewKeyring(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := NewKeyring(t.TempDir()); err == nil {
		t.Error("a folder was taken for a token file")
	}
	if runtime.GOOS == "windows" {
		return
	}
	must.Do(t, os.WriteFile(path, []byte(tokenLines), 0o644))
	if _, err := NewKeyring(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}
func manyTokens(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(secret0(i) + " read\n")
	}
	return b.String()
}

// TestHosts checks which Host headers count as names of this machine. A local server answers only these.
func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:7744": true, "LOCALHOST:1": true, "localhost.": true, "127.0.0.1": true,
		"127.1.2.3:80": true,
		"[::1]":        true, "[::1]:7744": true,
		"": false, "evil.example": false, "localhost.evil.example:7744": false, "127.0.0.1.evil.example": false,
		"10.0.0.1:7744": false, "0.0.0.0:7744": false,
		"[::]:7744": false, "[fe80::1]": false, "user@localhost": false,
	} {
		if got := IsLoopback(hostName(host)); got != ok {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// secret0 returns the i-th of many tokens.
func secret0(i int) string { return fmt.Sprintf("token-%016d", i) }

//go:embed keyring.go
var keyringSource []byte // the file that was compiled

// TestTokensAreComparedInConstantTime checks that a lookup compares a hash with all others, only with crypto/subtle.
// Times on a busy machine cannot show that, so the test reads the code.
func TestTokensAreComparedInConstantTime(t *testing.T) {
	c, err := parseTokens(strings.NewReader(manyTokens(3)))
	must.Do(t, err)
	for i := range 4 {
		if got := c.role(secret0(i)); (got == Read) != (i < 3) {
			t.Errorf("token %d has role %v", i, got)
		}
	}
	file, err := parser.ParseFile(gotoken.NewFileSet(), "keyring.go", keyringSource, 0)
	must.Do(t, err)
	calls := map[string]int{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "role" {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				calls[n.Sel.Name]++
			case *ast.IfStmt, *ast.SwitchStmt, *ast.BranchStmt, *ast.IndexExpr:
				t.Error("the lookup of a token branches")
			case *ast.BinaryExpr:
				t.Errorf("the lookup of a token has an operator %s", n.Op)
			}
			return true
		})
	}
	if calls["ConstantTimeCompare"] != 1 || calls["ConstantTimeSelect"] != 1 || calls["Equal"] != 0 {
		t.Errorf("calls: %v", calls)
	}
}
