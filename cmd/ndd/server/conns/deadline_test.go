package conns

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// piped returns the server's end of a connection, and the client's.
func piped(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	inner, client := net.Pipe()
	c := Limit(nil, 1).admit(inner)
	t.Cleanup(func() { c.Close(); client.Close() })
	return c, client
}

// TestDeadlines: reading and writing fail when the last deadline that was set comes up, not before, whatever was set before it.
func TestDeadlines(t *testing.T) {
	for name, c := range map[string]struct {
		set  []time.Duration // 0: none
		fail time.Duration   // 0: never
	}{
		"one":                     {[]time.Duration{5}, 5},
		"further off":             {[]time.Duration{5, 30, 120}, 120},
		"nearer":                  {[]time.Duration{120, 5}, 5},
		"further off, and nearer": {[]time.Duration{5, 120, 0, 30, 10}, 10},
		"none any more":           {[]time.Duration{5, 0}, 0},
	} {
		for _, write := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn, client := piped(t)
					set, run := conn.SetReadDeadline, conn.Read
					if write {
						set, run = conn.SetWriteDeadline, conn.Write
					}
					began := time.Now()
					for _, d := range c.set {
						at := time.Time{}
						if d > 0 {
							at = began.Add(d * time.Second)
						}
						if err := set(at); err != nil {
							t.Fatal(err)
						}
					}
					if c.fail == 0 {
						time.AfterFunc(time.Hour, func() { client.Close() })
					}
					_, err := run(make([]byte, 10))
					if took := time.Since(began); errors.Is(err, os.ErrDeadlineExceeded) != (c.fail > 0) || c.fail > 0 && took != c.fail*time.Second {
						t.Errorf("write %v: %v after %v, want %v s", write, err, took, int(c.fail))
					}
				})
			})
		}
	}
}

// TestDeadlineWhileItWaits: a deadline that is moved while somebody waits counts: one further off, and one long ago that ends the waiting,
// after which reading goes on.
func TestDeadlineWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, client := piped(t)
		began := time.Now()
		conn.SetReadDeadline(began.Add(5 * time.Second))
		time.AfterFunc(time.Second, func() { conn.SetReadDeadline(began.Add(time.Minute)) })
		time.AfterFunc(20*time.Second, func() { client.Write([]byte("ab")) })
		b := make([]byte, 10)
		if n, err := conn.Read(b); n != 2 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		time.AfterFunc(time.Second, func() { conn.SetReadDeadline(time.Unix(1, 0)) })
		if _, err := conn.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 21*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if _, err := conn.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%v", err)
		}
		conn.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Hour, func() { client.Write([]byte("c")) })
		if n, err := conn.Read(b); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	})
}

// TestWriteGoesOn: what was written in part when a deadline came up that nobody wants any more is written to its end, once.
func TestWriteGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, client := piped(t)
		conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
		conn.SetWriteDeadline(time.Now().Add(time.Hour))
		got := make(chan string, 1)
		go func() {
			b := make([]byte, 4)
			client.Read(b)
			time.Sleep(time.Minute)
			rest := make([]byte, 10)
			n, _ := client.Read(rest)
			got <- string(b) + string(rest[:n])
		}()
		if n, err := conn.Write([]byte("abcdefgh")); n != 8 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if all := <-got; all != "abcdefgh" {
			t.Errorf("%q", all)
		}
	})
}
