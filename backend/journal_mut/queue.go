package journal

// stretchBytes bounds a stretch, and so the memory that a backlog takes.
const stretchBytes = 64 << 10

// queue is one stream of records that are applied in order.
type queue struct {
	id   QueueID
	name string

	last    uint64 // last record
	applied uint64 // everything up to here is on the server
	removed uint64 // everything up to here may have been removed
	window  uint64 // last window that was done
	sealed  *Window
	busy    bool // a seal or done is being written

	definedIn uint64    // segment that holds the latest definition
	stretches []stretch // unapplied records, in runs
	open      tally     // sum of the stretches
	cut       bool      // the next record begins a stretch
}

// tally counts records.
type tally struct {
	records, rows, bytes uint64
}

func (t *tally) add(o tally) {
	t.records += o.records
	t.rows += o.rows
	t.bytes += o.bytes
}

func (t *tally) sub(o tally) {
	t.records -= o.records
	t.rows -= o.rows
	t.bytes -= o.bytes
}

// stretch is a run of records of a queue. Counting by stretches and not by
// records keeps memory small; a stretch counts until all of it is applied.
type stretch struct {
	first, last uint64
	oldest      int64 // time of the first record
	tally
}

// grow counts a record.
func (q *queue) grow(seq uint64, rows uint32, bytes int, time int64) {
	t := tally{records: 1, rows: uint64(rows), bytes: uint64(bytes)}
	q.last = seq
	q.open.add(t)
	n := len(q.stretches)
	if n == 0 || q.cut || q.stretches[n-1].bytes >= stretchBytes {
		q.stretches = append(q.stretches, stretch{first: seq, oldest: time})
		q.cut = false
		n++
	}
	s := &q.stretches[n-1]
	s.last = seq
	s.add(t)
}

// seal notes that a window was sealed.
func (q *queue) seal(w *Window) {
	q.sealed = w
	q.cut = q.cut || w.To == q.last
}

// apply notes that everything up to a record was applied.
func (q *queue) apply(to uint64) {
	q.applied = max(q.applied, to)
	n := 0
	for n < len(q.stretches) && q.stretches[n].last <= q.applied {
		q.open.sub(q.stretches[n].tally)
		n++
	}
	if n == len(q.stretches) {
		q.stretches = q.stretches[:0]
	} else {
		q.stretches = q.stretches[n:]
	}
}

// oldest returns the time of the oldest unapplied record, 0 if there is none.
func (q *queue) oldest() int64 {
	if len(q.stretches) == 0 {
		return 0
	}
	return q.stretches[0].oldest
}

// QueueState says where a queue stands.
type QueueState struct {
	ID      QueueID
	Name    string
	Applied uint64 // everything up to this record is on the server
	Last    uint64 // last record
	Records uint64 // unapplied ones, as are rows and bytes
	Rows    uint64
	Bytes   uint64
	Oldest  int64   // unix seconds of the oldest unapplied record, 0 if none
	Window  uint64  // last window that was done, 0 if none
	Sealed  *Window // sealed but not done, or nil
}

func (q *queue) state() QueueState {
	return QueueState{
		ID: q.id, Name: q.name, Applied: q.applied, Last: q.last,
		Records: q.open.records, Rows: q.open.rows, Bytes: q.open.bytes,
		Oldest: q.oldest(), Window: q.window, Sealed: q.sealed,
	}
}
