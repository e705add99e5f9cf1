package backend

import (
	"time"

	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/rewrite"
)

const (
	// rowsPerPage is what an automatic window aims at: the baseline shows what rows
	// that share a leaf page gain (about 2 a page gave 2x, about 15 gave 6x).
	rowsPerPage = 20
	// measureEvery is how long a table's size is believed.
	measureEvery = 10 * time.Second
)

// measure looks at how large the queue's table is and sets how many rows make a
// window worth while: where the table is larger than the server's buffer pool,
// enough for rowsPerPage; elsewhere small windows do as well.
func (q *queue) measure() {
	now := time.Now()
	q.mu.Lock()
	auto := q.settings.WindowRows == 0
	stale := now.Sub(q.measured) >= measureEvery
	if auto && stale {
		q.measured = now
	}
	q.mu.Unlock()
	if !auto || !stale || q.name == foreignKeys {
		return
	}
	t := q.engine.tableOf(q)
	if t == nil || t.Primary == nil {
		return
	}
	c, err := q.engine.meta.get(q.engine.ctx)
	if err != nil {
		return // the server is away: the window is as good as the last one
	}
	size, err := schema.Sizes(c, t)
	q.engine.meta.put(c, err != nil)
	if err != nil {
		return
	}
	want := 0
	if size.PageSize > 0 && size.DataLength > size.BufferPool {
		want = rowsPerPage * int(size.DataLength/size.PageSize)
	}
	q.mu.Lock()
	q.wantRows = want
	q.mu.Unlock()
}

// tableOf is the table of a queue with one table, nil if no shape of it is known.
func (e *Engine) tableOf(q *queue) *rewrite.Table {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.shapes {
		if s.queue == q {
			return s.Plan.Table
		}
	}
	return nil
}
