// Package must ends tests that meet an error.
package must

// Do ends the test, benchmark or check of a property if there is an error.
func Do(t interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
