package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// tail says what is behind the last good record of the newest segment.
type tail struct {
	cut    bool   // a chunk that was being written: everything there is is a prefix of it
	reason string // what is wrong, when not cut
	zeros  bool   // it begins with zeros
	found  bool   // readable pieces follow
	// promised is the largest length that a record behind says was on stable
	// storage.
	promised int64
}

// lost reports whether the tail is more than what a crash may take, and why.
// A process that dies leaves a prefix of what it wrote. A machine that dies may
// leave any subset of what was not synced, so it must be known that it did:
// the boot identity changes.
func (t *tail) lost(s *segment, rebooted bool) (reason string, lost bool) {
	switch {
	case t.promised > s.end:
		return fmt.Sprintf("%s, and a record behind shows that %d bytes had been synced", t.reason, t.promised), true
	case t.cut || rebooted:
		return "", false
	default:
		return t.reason, true
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunkAt checks the chunk at the beginning of b, which ends with its block or
// with the file, and returns its length with the header.
func chunkAt(b []byte) (length int, kind byte, ok bool) {
	if len(b) < chunkHeader {
		return 0, 0, false
	}
	length = chunkHeader + int(binary.LittleEndian.Uint16(b[4:]))
	kind = b[6]
	if kind < 1 || kind > 4 || length > len(b) {
		return length, kind, false
	}
	// The checksum as LevelDB's log format masks it.
	crc := crc32.Checksum(b[6:length], castagnoli)
	crc = (crc>>15 | crc<<17) + 0xa282ead8
	return length, kind, crc == binary.LittleEndian.Uint32(b)
}

// examine looks at what follows offset, where the last good record of a segment
// ends. The record reader says only that it could not go on.
func examine(f io.ReaderAt, offset, size int64) (tail, error) {
	var t tail
	block := make([]byte, blockSize)
	at := offset
	for at < size {
		b, err := readBlock(f, block, at, size)
		if err != nil {
			return t, err
		}
		room := int(blockSize - at%blockSize)
		if room < chunkHeader {
			if !zero(b) {
				t.reason = "padding is not empty"
				break
			}
			at += int64(len(b))
			continue
		}
		length, kind, ok := chunkAt(b)
		if ok {
			// A part of a record that does not go on, or one that does not belong.
			at += int64(length)
			continue
		}
		switch {
		case len(b) < room && len(b) < chunkHeader:
			t.cut = true
		case len(b) < room && kind >= 1 && kind <= 4 && length > len(b) && length <= room:
			t.cut = true
		case zero(b[:min(len(b), chunkHeader)]):
			t.zeros, t.reason = true, "zeros in place of a record"
		default:
			t.reason = "checksum mismatch"
		}
		break
	}
	if at >= size {
		t.cut = true
		return t, nil
	}
	return t, t.survey(f, block, at, size)
}

// survey looks for good chunks anywhere behind at. One that is there although
// its predecessor is not means that the file was not merely cut short.
func (t *tail) survey(f io.ReaderAt, block []byte, at, size int64) error {
	at++
	found := 0
	for at < size {
		b, err := readBlock(f, block, at, size)
		if err != nil {
			return err
		}
		for i := 0; i+chunkHeader <= len(b); {
			length, kind, ok := chunkAt(b[i:])
			if !ok {
				i++
				continue
			}
			found++
			if kind == 1 || kind == 2 {
				t.promised = max(t.promised, promise(b[i+chunkHeader:i+length]))
			}
			i += length
		}
		at += int64(len(b))
	}
	if t.found = found > 0; t.found {
		if t.reason == "" {
			t.reason = "broken record"
		}
		t.cut = false
		t.reason = fmt.Sprintf("%s, with at least %d readable pieces behind it", t.reason, found)
	}
	return nil
}

// readBlock reads from at to the end of its block or of the file.
func readBlock(f io.ReaderAt, block []byte, at, size int64) ([]byte, error) {
	b := block[:min(blockSize-at%blockSize, size-at)]
	n, err := f.ReadAt(b, at)
	if n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
