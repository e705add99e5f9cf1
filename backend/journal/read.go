package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// errStop ends a walk early.
var errStop = errors.New("stop")

// span is a part of a segment that is being read.
type span struct {
	s     *segment
	block int64
	end   int64
}

// spans returns where the records in (from, to] are, and keeps the segments
// from being removed until release.
func (c *chain) spans(from, to uint64) []span {
	var spans []span
	for _, s := range slices.Backward(c.segments) {
		if s.void || s.header.base > to {
			continue
		}
		s.readers++
		spans = append(spans, span{s: s, block: s.seek(from + 1), end: s.end})
		if s.header.base <= from+1 {
			break
		}
	}
	slices.Reverse(spans)
	return spans
}

// release ends the use of spans.
func release(mu *sync.Mutex, spans []span) {
	mu.Lock()
	defer mu.Unlock()
	for _, sp := range spans {
		sp.s.readers--
	}
}

// callbackError carries an error of the caller's function past those that are
// ours.
type callbackError struct{ error }

// visitHead gets at least the beginning of a record; rest reads all of it.
type visitHead func(head []byte, rest func() ([]byte, error)) error

// walkSpans calls visit with at least the first n bytes of each record, or all
// of a shorter one, and with the means to read the rest of it.
func (d *directory) walkSpans(spans []span, n int, visit visitHead) error {
	var buf []byte
	for _, sp := range spans {
		if sp.end <= sp.block {
			continue
		}
		w, err := d.walk(sp.s, sp.block, sp.end, buf)
		if err != nil {
			return readError(sp.s, sp.block, err)
		}
		good, err := walkOne(w, n, visit)
		buf = w.buf
		w.close()
		var cb callbackError
		switch {
		case errors.Is(err, errStop):
			return nil
		case errors.As(err, &cb):
			return cb.error
		case err == nil && good != sp.end:
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return readError(sp.s, good, err)
		}
	}
	return nil
}

func walkOne(w *walker, n int, visit visitHead) (good int64, err error) {
	good = w.offset()
	var r io.Reader
	rest := func() ([]byte, error) { return w.rest(r) }
	for {
		var head []byte
		head, r, err = w.nextHead(n)
		if errors.Is(err, io.EOF) {
			return w.offset(), nil
		}
		if err != nil {
			return good, err
		}
		if len(head) == 0 {
			return good, errMalformed
		}
		if err := visit(head, rest); err != nil {
			return good, err
		}
		good = w.offset()
	}
}

// readError says where reading a segment failed.
func readError(s *segment, offset int64, err error) error {
	switch {
	case unreadable(err):
		return &DamageError{Path: s.path, Offset: offset, Reason: "a record that was written well cannot be read"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, fs.ErrNotExist):
		return &DamageError{Path: s.path, Offset: offset, Reason: "the file was cut or removed by somebody else"}
	default:
		return fmt.Errorf("read %s: %w", s.path, err)
	}
}

// Read calls fn for the acknowledged records of a queue in (from, to], in
// order. It may run while others append. Body is valid during the call only.
// An error of fn ends Read and is returned as it is.
func (j *Journal) Read(id QueueID, from, to uint64, fn func(Record) error) error {
	j.mu.Lock()
	q := j.queues[id]
	if q == nil {
		j.mu.Unlock()
		return fmt.Errorf("journal: read: %w queue %d", ErrUnknown, id)
	}
	if from < q.removed {
		j.mu.Unlock()
		return fmt.Errorf("journal: read %s from %d: %w before %d", q.name, from, ErrRemoved, q.removed)
	}
	to = min(to, j.visible)
	if from >= to {
		j.mu.Unlock()
		return nil
	}
	spans := j.chain.spans(from, to)
	j.mu.Unlock()
	defer release(&j.mu, spans)
	return j.dir.walkSpans(spans, recordHeadMax, func(head []byte, rest func() ([]byte, error)) error {
		if head[0] != kindRecord {
			return nil
		}
		var r Record
		if _, err := decodeRecordHead(head, &r, false); err != nil {
			return err
		}
		if r.Seq > to {
			return errStop
		}
		if r.Queue != id || r.Seq <= from {
			return nil
		}
		payload, err := rest()
		if err != nil {
			return err
		}
		if err := decodeRecord(payload, &r); err != nil {
			return err
		}
		if err := fn(r); err != nil {
			return callbackError{err}
		}
		return nil
	})
}
