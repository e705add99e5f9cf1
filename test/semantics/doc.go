// Package semantics holds sluice to the rules of its meaning that are about
// batching: who may write where, exactly once, order and values, seeing and
// waiting. Each test is named after its rule and runs on MariaDB and on MySQL.
//
// A test has a sluice of its own whose windows close only at a barrier, so that
// what lies between the OK of a row and its flush is in the test's hand and no
// outcome depends on time. That rows were batched at all is read from the
// metrics. Where it can be, the same statements run directly and through sluice
// and everything that can be seen of them is compared.
package semantics
