package serve

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/server"
)

func newHealth(g *cli.Globals) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [flags] [URL]",
		Short: "Say whether a server is ready",
		Long: `Ask a server of 'ndd serve' whether it answers queries. This is for scripts, and for
images without curl. The exit status is 0 if it does, and 1 if it loads, drains, is
damaged or cannot be reached. If the URL has no path, /readyz is asked.`,
		Example: `  ndd health
  ndd health http://127.0.0.1:7745
  SSL_CERT_FILE=ca.pem ndd health https://ndd.example:7744/livez`,
		Annotations: cli.HelpOf("Guide: ndd help operations", "Request: timeout=TIME"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("one URL is needed, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target := "http://" + server.DefaultListen
			if len(args) > 0 {
				target = args[0]
			}
			return askHealth(cmd.Context(), g.Stdout, target, timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "time to wait for the answer")
	return cmd
}

// askHealth prints the answer of a server. The error is about a server that is not ready.
func askHealth(ctx context.Context, out io.Writer, target string, timeout time.Duration) error {
	// Check the URL. Its default path is /readyz.
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return cli.Usagef("%.200q: must be a URL, such as http://%s", target, server.DefaultListen)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/readyz"
	}
	client := http.Client{Timeout: timeout}
	defer client.CloseIdleConnections()
	// Ask the server.
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		return fmt.Errorf("%w; the environment variable SSL_CERT_FILE names a file of its certificate", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: no server accepts connections there: start one with ndd serve, or give its URL", u)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	// Print the answer, or return it as an error.
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", u, answer.Status, strings.TrimSpace(string(body)))
	}
	_, err = fmt.Fprintln(out, strings.TrimSpace(string(body)))
	return err
}
