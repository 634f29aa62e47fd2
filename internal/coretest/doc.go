// Package coretest and the packages below it test the module core from outside: with the
// conformance suites, and with other things that core itself must not require, since whoever
// imports it would get them too.
package coretest
