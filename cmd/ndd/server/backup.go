package server

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/index/live"
)

// backupRequest is the body of /v1/backup.
type backupRequest struct {
	Name string `json:"name" minLength:"1" maxLength:"100" pattern:"^[0-9A-Za-z][0-9A-Za-z._-]*$" patternDescription:"letters, digits, and . _ - behind the first" doc:"Name of the backup: a folder of this name is made in the one of --backup-dir"`
}

// backupAnswer says what a backup has.
type backupAnswer struct {
	Name    string  `json:"name"`
	Files   int     `json:"files" doc:"Files of segments, and the manifest"`
	Linked  uint64  `json:"linked_bytes" doc:"Bytes of the files that the backup shares with the index, and that take no room until the index drops them"`
	Copied  uint64  `json:"copied_bytes" doc:"Bytes that were copied: the log, and all files where the folder is on another file system"`
	Records uint64  `json:"log_records" doc:"Records of the log"`
	Seconds float64 `json:"seconds" doc:"Time that it took"`
}

// registerBackup adds /v1/backup to the API, where there is a folder for it.
func (s *service) registerBackup(api huma.API) {
	if s.backups == "" {
		return
	}
	type input struct{ Body backupRequest }
	type output struct{ Body *backupAnswer }
	o := operation(http.MethodPost, "/v1/backup", "backup", "Back the index up",
		"Makes a backup of the index as it is now, with all that was acknowledged before the request, while everything else goes on. It is an index of its own, which can be served and verified with 'ndd check'. One is made at a time.")
	o.Errors = append(o.Errors, http.StatusConflict)
	huma.Register(api, o, func(ctx context.Context, in *input) (*output, error) {
		a, p := s.backup(ctx, in.Body.Name)
		if p != nil {
			return nil, p
		}
		return &output{a}, nil
	})
}

// backup makes a backup of that name.
func (s *service) backup(ctx context.Context, name string) (*backupAnswer, *problem) {
	if !s.backingUp.TryLock() {
		return nil, refusal(http.StatusTooManyRequests, "a backup is being made").retry(5)
	}
	defer s.backingUp.Unlock()
	began := time.Now()
	r, err := s.index.Load().Live().Backup(ctx, filepath.Join(s.backups, name))
	switch {
	case errors.Is(err, live.ErrNotDurable):
		return nil, refusal(http.StatusConflict, "there is nothing to back up: "+err.Error())
	case errors.Is(err, fs.ErrExist):
		return nil, refusal(http.StatusConflict, "body.name: there is a backup of that name: choose another one", &huma.ErrorDetail{Message: "there is a backup of that name", Location: "body.name", Value: name})
	case err != nil:
		return nil, broken(err)
	}
	took := time.Since(began)
	s.log.Info("backup made", "name", name, "files", r.Files, "linked_bytes", r.Linked, "copied_bytes", r.Copied, "seconds", took.Seconds())
	return &backupAnswer{name, r.Files, r.Linked, r.Copied, r.Log.Records, took.Seconds()}, nil
}
