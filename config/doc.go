// Package config holds sluice's settings: one struct, its defaults, and where
// values come from.
//
// A setting has one key, such as window.max_delay. Its name in the YAML file is
// the key, nested (window: {max_delay: ...}) or dotted (window.max_delay: ...);
// its environment variable and its flag are derived from the key
// (SLUICE_WINDOW_MAX_DELAY, --window-max-delay). All three come from the table
// in settings.go, so that they cannot diverge. Later sources win: file,
// environment, flags.
//
// The package promises that
//   - every mistake in every source is reported at once, one line each, with
//     the line of the file and, for an unknown key, the key that was meant;
//   - a password never appears in an error, a warning, a log or String();
//   - a value that Load returns is complete and checked: nobody downstream
//     needs to apply a default or check a range.
//
// It starts no goroutine and imports no other package of sluice.
package config
