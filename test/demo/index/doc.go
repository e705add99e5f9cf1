// Package index makes a real reverse index out of a tree of source text: one
// row per distinct word and file, with a weight, as a search engine's loader
// would send it. The same tree always gives the same rows in the same order.
//
// No goroutines live here.
package index
