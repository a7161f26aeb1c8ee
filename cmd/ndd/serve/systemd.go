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

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/server"
)

// underSystemd sets the sockets that systemd has opened, named listen and admin (one without a name
// is listen), the notify socket and the watchdog.
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
				return fmt.Errorf("sockets of systemd: %q: must be one TCP socket with FileDescriptorName=listen, and one with "+
					"admin", name)
			}
			o.Inherited[as] = l
		}
	}
	o.Notify = func(state string) { daemon.SdNotify(false, state) } // does nothing without systemd
	o.Watchdog, err = daemon.SdWatchdogEnabled(false)
	return err
}

// unit is a unit of systemd: with steps before it is enabled, the program, its arguments, more
// lines, and the address.
const unit = `# /etc/systemd/system/ndd.service
%s# systemctl daemon-reload && systemctl enable --now ndd
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

// writeUnit writes a unit that runs s with the arguments that were given. If all that it touches is
// in the state folder, systemd makes its user; files of other folders need a user that owns them.
func (s *serving) writeUnit(out io.Writer, program string, args []string) error {
	var line strings.Builder
	for _, a := range args {
		if a != "--print-unit" && a != "--print-unit=true" {
			line.WriteString(" " + quoteUnit(a))
		}
	}
	folders, steps, own := "", "", s.options.TokenFile != "" || s.options.TLSKey != ""
	for _, path := range []string{s.unitIndex(), s.options.Backups} {
		path = filepath.Clean(path)
		switch {
		case !filepath.IsAbs(path) || strings.HasPrefix(path+"/", stateFolder+"/"):
			continue
		case path == "/":
			return cli.Usagef("--print-unit: the service would write to /: put %s into a folder of its own, such as %s/index",
				s.dir, stateFolder)
		}
		folders, own = folders+"ReadWritePaths="+quoteUnit(path)+"\n", true
		steps += "# install -d -o ndd -g ndd " + quoteUnit(path) + "\n"
	}
	if own {
		folders += "# the user must be able to read the files that the flags name\nUser=ndd\n"
		steps = "# useradd --system ndd\n" + steps
	} else {
		folders = "DynamicUser=yes\n"
	}
	_, err := fmt.Fprintf(out, unit, steps, quoteUnit(program), line.String(), folders, s.options.Listen)
	return err
}

// unitIndex returns the folder that the service writes its index to: that of the index, or the one
// in which it will be made.
func (s *serving) unitIndex() string {
	if _, err := os.Stat(s.dir); err != nil {
		return filepath.Dir(s.dir)
	}
	return s.dir
}

// quoteUnit writes a word of a unit's command line as systemd reads it.
func quoteUnit(word string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word)
	if escaped != word || word == "" || strings.ContainsAny(word, " \t';") {
		return `"` + escaped + `"`
	}
	return word
}
