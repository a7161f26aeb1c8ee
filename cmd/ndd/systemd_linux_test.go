package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// TestSystemd checks that a server that systemd starts reports when it is ready, runs and stops. ndd health works with
// it, also at the admin address without a token.
func TestSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	must.Do(t, os.WriteFile(tokens, []byte("0123456789abcdef admin\n"), 0o600))
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	must.Do(t, err)
	defer notify.Close()
	var addresses []string // free ports
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must.Do(t, err)
		addresses = append(addresses, l.Addr().String())
		l.Close()
	}
	cmd := exec.Command("sh", "-c", `WATCHDOG_PID=$$ exec ndd "$@"`, "sh", "serve", "--memory-only",
		"--listen", addresses[0], "--admin", addresses[1], "--token-file", tokens)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(dir, "notify"), "WATCHDOG_USEC=300000")
	var messages strings.Builder
	cmd.Stderr = &messages
	must.Do(t, cmd.Start())
	defer cmd.Process.Kill()
	wait := func(state string) {
		t.Helper()
		for b := make([]byte, 1024); ; {
			notify.SetReadDeadline(time.Now().Add(waitMax))
			n, err := notify.Read(b)
			if err != nil {
				t.Fatalf("%s: %v\n%s", state, err, &messages)
			}
			if string(b[:n]) == state {
				return
			}
		}
	}
	wait("READY=1")
	wait("WATCHDOG=1")
	wait("WATCHDOG=1")
	for _, target := range []string{addresses[0], addresses[1], addresses[1] + "/livez"} {
		ran(t, exitDone, "health", "--timeout", "2m", "http://"+target)
	}
	_, refusal := ran(t, exitFailed, "health", "--timeout", "2m", "http://"+addresses[1]+"/metrics")
	if !strings.Contains(refusal, "401") {
		t.Errorf("metrics without a token: %s", refusal)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	wait("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &messages)
	}
	ran(t, exitFailed, "health", "http://"+addresses[0]) // no server listens
}

// TestHealthCertificate checks that ndd health says where the authority of a server's certificate is given.
func TestHealthCertificate(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	if _, messages := ran(t, exitFailed, "health", "--timeout", "2m", secure.URL); !strings.Contains(messages,
		"the environment variable SSL_CERT_FILE") {
		t.Error(messages)
	}
}

// TestUnit checks that the unit of 'ndd help operations' passes the check of systemd, if that is installed.
func TestUnit(t *testing.T) {
	text := guideCode(t, "operations", "ini")
	program, err := exec.LookPath("ndd")
	must.Do(t, err)
	if text = strings.Replace(text, "/usr/local/bin/ndd serve", program+" serve", 1); !strings.Contains(text, program) || strings.Count(text, "\n") < 25 {
		t.Fatal(text)
	}
	unit := filepath.Join(t.TempDir(), "ndd.service")
	must.Do(t, os.WriteFile(unit, []byte(text), 0o644))
	if check, err := exec.LookPath("systemd-analyze"); err == nil {
		if messages, err := exec.Command(check, "verify", unit).CombinedOutput(); err != nil ||
			strings.Contains(string(messages), unit) {
			t.Errorf("systemd-analyze: %v %s", err, messages)
		}
	}
}
