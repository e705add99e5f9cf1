package backend

import "sync/atomic"

// Memory bounds what all sessions together hold (memory.max).
type Memory struct {
	max  int64
	used atomic.Int64
}

// NewMemory returns a bound of most bytes.
func NewMemory(most int64) *Memory { return &Memory{max: most} }

// Reserve takes n bytes if they are there.
func (m *Memory) Reserve(n int) bool {
	if m.used.Add(int64(n)) > m.max {
		m.used.Add(-int64(n))
		return false
	}
	return true
}

// Force takes n bytes whether they are there or not.
func (m *Memory) Force(n int) { m.used.Add(int64(n)) }

// Release gives n bytes back.
func (m *Memory) Release(n int) { m.used.Add(-int64(n)) }

// Used is what is taken now.
func (m *Memory) Used() int64 { return m.used.Load() }
