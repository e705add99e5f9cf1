// Package journal keeps what sluice has acknowledged until the server has it.
//
// Two durable logs live here, both made of numbered segment files written with
// Pebble's record package (32 KiB blocks, a CRC on every chunk):
//
//	Journal   client statements in arrival order, and the windows in which
//	          they are applied
//	Rejects   statements that the server refused, with its error
//
// What the journal promises:
//
//   - Append returns without an error only after write(2) of the whole record
//     (modes os and 1s) or after an fsync that covers it (mode always).
//   - A record whose Append returned an error is never read back: the header of
//     the next segment says where the previous one ended, and what lies behind
//     that end is abandoned. Only when not even that header could be written
//     does the error match ErrUncertain.
//   - Sequence numbers increase strictly and are never used twice, not even when
//     a power loss takes the tail of the log: a segment header, which is fsynced
//     in every mode, sets aside all the numbers that its segment can use.
//   - A tail cut short by a crash is dropped at Open. Anything else that cannot
//     be read is a DamageError, which names the file, the offset and what to do.
//     Open never changes or overwrites a segment that exists.
//   - The records and windows that are wholly applied stay for Options.Keep, so
//     that a fail-over to a server that lacks them can be answered by replay.
//
// Goroutines: Open starts one (Journal.run), which fsyncs every second in mode
// 1s, removes old segments and watches the free space. Close stops it and waits
// for it. Rejects starts none.
package journal
