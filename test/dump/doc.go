// Package dump replays dumps through sluice: a schema with everything that the
// servers have to offer is filled directly, dumped by the server's own dump tool
// in the ways that it offers, and replayed by the server's own client through
// sluice. Every table, view, routine, trigger and event must then be as in the
// original, and where the dump has its rows one by one most must be batched.
//
// The schema is in testdata: common.sql, and one file for what only one kind of
// server has.
package dump
