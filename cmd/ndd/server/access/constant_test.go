package access

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"testing"
	"time"
)

// The lookup of a token looks at all of them, whichever is asked for: with 10,000 tokens, the first takes as long as the last.
func TestEveryTokenIsCompared(t *testing.T) {
	c := &contents{}
	for i := range tokensMax {
		c.tokens = append(c.tokens, token0(i))
	}
	took := func(secret string) time.Duration {
		began := time.Now()
		if c.role(secret) != Read {
			t.Fatal("not found")
		}
		return time.Since(began)
	}
	first, last := time.Hour, time.Hour // the least of many, taken in turns: what else runs here only adds to them
	for range 51 {
		first, last = min(first, took(secret0(0))), min(last, took(secret0(tokensMax-1)))
	}
	if first < last/4 || last < first/4 {
		t.Errorf("the first takes %v, the last %v", first, last)
	}
}

// Hashes are compared by crypto/subtle and by nothing else. What a processor's branches give away is below what
// a test can measure, so this reads the code.
func TestTokensAreComparedInConstantTime(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "keyring.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
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
			case *ast.IfStmt, *ast.SwitchStmt, *ast.BranchStmt:
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
