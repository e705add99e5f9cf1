// Package stream sends results and files through sluice that are much larger
// than the memory it may take for them, and holds that a client which does not
// read, or does not go on sending, keeps nobody waiting but itself.
//
// The streams are 256 MiB in a test run and as many as SLUICE_STREAM_MIB says
// for `make soak`. The server makes the results and stores nothing of the files,
// so that no disk is needed.
package stream
