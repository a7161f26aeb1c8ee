package main

import (
	"runtime/debug"
	"testing"
)

// TestCommitText checks that a build in a clone prints commit, date and local changes; any other build prints nothing.
func TestCommitText(t *testing.T) {
	setting := func(pairs ...string) *debug.BuildInfo {
		info := new(debug.BuildInfo)
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	for _, test := range []struct {
		info *debug.BuildInfo
		ok   bool
		want string
	}{
		{nil, false, ""},
		{setting("GOOS", "linux"), true, ""},
		{setting("vcs.revision", "abc", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false"), true,
			"commit abc of 2026-01-02T03:04:05Z"},
		{setting("vcs.revision", "abc", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "true"), true,
			"commit abc of 2026-01-02T03:04:05Z, with local changes"},
	} {
		if got := commitText(test.info, test.ok); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
