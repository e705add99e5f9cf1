package journal

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// walker reads the records of one segment, from a block boundary up to an end.
type walker struct {
	file  vfs.File
	rd    *record.Reader
	block int64 // where reading began
	buf   []byte
}

// walk opens a segment for reading. buf is reused for payloads.
func (d *directory) walk(s *segment, block, end int64, buf []byte) (*walker, error) {
	f, err := d.fs.Open(s.path, vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	return newWalker(f, block, end, buf), nil
}

func newWalker(f vfs.File, block, end int64, buf []byte) *walker {
	return &walker{
		file:  f,
		rd:    record.NewReader(io.NewSectionReader(f, block, end-block), 0),
		block: block,
		buf:   buf,
	}
}

// offset returns where the last record read ends.
func (w *walker) offset() int64 { return w.block + w.rd.Offset() }

// next returns the payload of the next record, valid until the call after, and
// io.EOF behind the last one.
func (w *walker) next() ([]byte, error) {
	r, err := w.rd.Next()
	if err != nil {
		return nil, err
	}
	w.buf = w.buf[:0]
	return w.rest(r)
}

// nextHead returns at least the first n bytes of the next record, or all of it
// if it is shorter. rest completes it.
func (w *walker) nextHead(n int) ([]byte, io.Reader, error) {
	r, err := w.rd.Next()
	if err != nil {
		return nil, nil, err
	}
	w.buf = w.buf[:0]
	for len(w.buf) < n {
		if _, err := w.more(r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
	}
	return w.buf, r, nil
}

// rest reads what is left of a record.
func (w *walker) rest(r io.Reader) ([]byte, error) {
	for {
		if _, err := w.more(r); errors.Is(err, io.EOF) {
			return w.buf, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// more reads once into the buffer, which grows when it is full.
func (w *walker) more(r io.Reader) (int, error) {
	if len(w.buf) == cap(w.buf) {
		grown := make([]byte, len(w.buf), max(4096, 2*cap(w.buf)))
		copy(grown, w.buf)
		w.buf = grown
	}
	n, err := r.Read(w.buf[len(w.buf):cap(w.buf)])
	w.buf = w.buf[:len(w.buf)+n]
	return n, err
}

func (w *walker) close() { _ = w.file.Close() }

// unreadable reports whether a read failed because of what is in the file, and
// not because the file could not be read.
func unreadable(err error) bool {
	return errors.Is(err, record.ErrInvalidChunk) || errors.Is(err, record.ErrZeroedChunk) ||
		errors.Is(err, record.ErrUnexpectedEOF) || errors.Is(err, errMalformed)
}
