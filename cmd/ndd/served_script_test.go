package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// servers are the commands of scripts that talk to a server:
//
//	serving ARGS...             runs ndd serve until it is ready; stdout and stderr match what it has said, $URL is its
//	post PATH BODY              sends a request and demands 200; ! demands anything else; stdout matches the answer
//	hangup TEXT                 sends SIGHUP, and waits until the server has said TEXT once more
//	stopping [kill]             ends the server, by SIGTERM unless kill is said, and waits for that
type servers struct{ running sync.Map }

func (s *servers) serving(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command("ndd", append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "off"}, args...)...)
	cmd.Dir = ts.Getenv("WORK")
	v, err := startServed(cmd, cmd.Dir)
	ts.Check(err)
	ts.Defer(v.end)
	s.running.Store(ts, v)
	ts.Setenv("URL", v.url)
	fmt.Fprint(ts.Stdout(), v.ready)
	fmt.Fprint(ts.Stderr(), v.messages())
}

// serverOf returns the server that a script began last.
func (s *servers) serverOf(ts *testscript.TestScript) *serveProcess {
	v, ok := s.running.Load(ts)
	if !ok {
		ts.Fatalf("no server is running")
	}
	return v.(*serveProcess)
}

func (s *servers) post(ts *testscript.TestScript, neg bool, args []string) {
	status, answer := s.serverOf(ts).post(args[0], "application/json", args[1])
	if status == 0 || (status == http.StatusOK) == neg {
		ts.Fatalf("%s %s: %d %s", args[0], args[1], status, answer)
	}
	fmt.Fprintf(ts.Stdout(), "%d %s", status, answer)
}

func (s *servers) hangup(ts *testscript.TestScript, _ bool, args []string) {
	v := s.serverOf(ts)
	before := strings.Count(v.messages(), args[0])
	ts.Check(v.cmd.Process.Signal(syscall.SIGHUP))
	for range 60_000 { // a minute and more: it takes milliseconds
		if strings.Count(v.messages(), args[0]) > before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	ts.Fatalf("the server does not say %q:\n%s", args[0], v.messages())
}

func (s *servers) stopping(ts *testscript.TestScript, _ bool, args []string) {
	v := s.serverOf(ts)
	signal := os.Signal(syscall.SIGTERM)
	if len(args) > 0 {
		signal = os.Kill
	}
	ts.Check(v.cmd.Process.Signal(signal))
	if err := v.cmd.Wait(); err != nil && len(args) == 0 {
		ts.Fatalf("the server ended with %v\n%s", err, v.messages())
	}
	fmt.Fprint(ts.Stderr(), v.messages())
}
