package proxy

import (
	"sync"

	"github.com/sluice-db/sluice/rewrite"
)

// scratch is what an insert is taken apart in. A session keeps a small one; what a large
// statement takes is left to the large ones of other sessions, so that idle sessions
// do not own it.
type scratch struct {
	rows rewrite.Rows
	body []byte // its rows, as the journal keeps them
}

// Bounds of a small scratch.
const (
	fewValues = 256
	fewBytes  = 8 << 10
)

var largeScratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) isLarge() bool {
	return cap(s.rows.Values) > fewValues || cap(s.rows.Spans) > fewValues || cap(s.body) > fewBytes
}

// prepare makes room for a statement.
func (s *scratch) prepare(bytes int) {
	if bytes > fewBytes && !s.isLarge() {
		*s = *largeScratches.Get().(*scratch)
	}
}

// shrink is called between commands.
func (s *scratch) shrink() {
	if s.isLarge() {
		large := *s
		*s = scratch{}
		largeScratches.Put(&large)
	}
}
