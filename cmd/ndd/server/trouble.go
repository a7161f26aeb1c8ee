package server

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/storage/store"
)

// The log has a line for each change of the server's state, and for each bug, however many requests meet it: who is turned away is
// counted by the metrics.

// notice takes note of the cause of a refusal that is about the server and not about the request.
func (s *service) notice(cause error) {
	switch {
	case cause == nil:
	case errors.Is(cause, store.ErrCorrupt):
		s.noticeDamage(cause)
	case s.full.CompareAndSwap(false, true):
		s.log.Error("changes are refused until there is room; queries are answered", "error", cause)
	}
}

// noticeRoom takes note of a change that was made.
func (s *service) noticeRoom() {
	if s.full.Load() && s.full.CompareAndSwap(true, false) {
		s.log.Info("there is room again: changes are made")
	}
}

// noticeDamage takes the server out of service: what is damaged gives no answers, and /readyz says so. The first
// damage is kept and logged, with its file, section and block.
func (s *service) noticeDamage(err error) {
	if !s.damage.CompareAndSwap(nil, &err) {
		return
	}
	args := []any{"error", err}
	if c, ok := errors.AsType[*store.CorruptError](err); ok {
		args = append(args, "file", c.File, "section", c.Section, "block", c.Block, "offset", c.Offset)
	}
	s.log.Error("the index is damaged, so nothing is answered any more: restore it from a backup, or build it again", args...)
}

// takeTrouble is a huma transformer that notices what is behind an answer.
func (s *service) takeTrouble(_ huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*problem); ok {
		s.notice(p.cause)
	}
	return v, nil
}
