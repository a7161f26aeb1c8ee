package serve

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"ndd/cmd/ndd/server"
)

// underSystemd has the server use what systemd gives it: sockets that are open already, named listen and admin (of
// one without a name it is listen), a socket to say when it is ready, and a watchdog.
func underSystemd(o *server.Options) error {
	named, err := activation.ListenersWithNames()
	if err != nil {
		return fmt.Errorf("sockets of systemd: %w", err)
	}
	o.Inherited = map[string]net.Listener{}
	for name, list := range named {
		for _, l := range list {
			as := name
			if name != "admin" {
				as = "listen"
			}
			if l == nil || o.Inherited[as] != nil {
				return fmt.Errorf("sockets of systemd: %q: must be one TCP socket with FileDescriptorName=listen, and one with admin", name)
			}
			o.Inherited[as] = l
		}
	}
	o.Notify = func(state string) {
		daemon.SdNotify(false, state) // who is not told by systemd waits for it elsewhere
	}
	o.Watchdog, err = daemon.SdWatchdogEnabled(false)
	return err
}

// unit is a unit of systemd. The first %s is where ndd stands, the second its arguments, the third more lines.
const unit = `# /etc/systemd/system/ndd.service
# systemctl daemon-reload && systemctl enable --now ndd
[Unit]
Description=ndd, near-duplicate search
After=network.target

[Service]
Type=notify
ExecStart=%s%s
ExecReload=/bin/kill -HUP $MAINPID
WatchdogSec=60
TimeoutStartSec=infinity
TimeoutStopSec=20
Restart=on-failure
LimitNOFILE=65536
StateDirectory=ndd
WorkingDirectory=%%S/ndd
%sNoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
CapabilityBoundingSet=

[Install]
WantedBy=multi-user.target

# For connections that wait while ndd restarts, /etc/systemd/system/ndd.socket:
# [Socket]
# ListenStream=%s
# FileDescriptorName=listen
# [Install]
# WantedBy=sockets.target
`

// stateFolder is what StateDirectory=ndd makes, and gives to the user of the unit.
const stateFolder = "/var/lib/ndd"

// writeUnit writes a unit that runs s with the arguments that were given. Where all that it touches lies in the state folder, its user
// is one that systemd makes for the time that it runs; files that somebody has given to a user need that user.
func (s *serving) writeUnit(out io.Writer, program string, args []string) error {
	var line strings.Builder
	for _, a := range args {
		if a != "--print-unit" && a != "--print-unit=true" {
			line.WriteString(" " + quoteUnit(a))
		}
	}
	more, own := "", s.options.TokenFile != "" || s.options.TLSKey != ""
	for _, path := range []string{s.dir, s.options.Backups} {
		if filepath.IsAbs(path) && !strings.HasPrefix(filepath.Clean(path), stateFolder+"/") {
			more, own = more+"ReadWritePaths="+quoteUnit(existing(path))+"\n", true
		}
	}
	if own {
		more += "# useradd --system ndd; it must own the folders and files that the flags name\nUser=ndd\n"
	} else {
		more += "DynamicUser=yes\n"
	}
	_, err := fmt.Fprintf(out, unit, quoteUnit(program), line.String(), more, s.options.Listen)
	return err
}

// existing returns a path, or where nothing is there yet the folder in which it will be: a unit may only name what there is.
func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return filepath.Dir(path)
	}
	return path
}

// quoteUnit writes a word of a unit's command line as systemd reads it.
func quoteUnit(word string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word)
	if escaped != word || word == "" || strings.ContainsAny(word, " \t';") {
		return `"` + escaped + `"`
	}
	return word
}
