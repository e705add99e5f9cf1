package journal

import "fmt"

// Reach says how far a window may go that begins after record from: up to a record
// at which it has at most rows rows and size bytes, or a little more where one run
// of records is larger than that. It returns the last record, and the rows and bytes
// up to it. Counting is by runs of records: a window may end up somewhat smaller
// than its bounds.
func (j *Journal) Reach(id QueueID, from uint64, rows, size int) (to uint64, gotRows, gotBytes int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q := j.queues[id]
	if q == nil {
		return 0, 0, 0, fmt.Errorf("journal: reach: %w queue %d", ErrUnknown, id)
	}
	for i := range q.stretches {
		s := &q.stretches[i]
		if s.last <= from {
			continue
		}
		if to > 0 && (gotRows+int(s.rows) > rows || gotBytes+int(s.bytes) > size) {
			break
		}
		to = s.last
		gotRows += int(s.rows)
		gotBytes += int(s.bytes)
	}
	return to, gotRows, gotBytes, nil
}
