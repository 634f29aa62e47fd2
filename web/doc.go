// Package web shows a folder of runs as web pages: all runs with their answers, two of them
// compared, and every profile, or the difference of two, in pprof's own web interface.
//
// The pages are for the person at this machine. The server listens on the loopback interface
// only, answers GET and HEAD, and refuses requests that name another host (DNS rebinding) or
// that a page of another site makes in the background.
//
// The runs may come from anybody. Files are read through an os.Root, so no name or symbolic
// link leads out of the folder. Own pages run no script but the server's. A run's report.html
// and pprof's pages need scripts of their own, so they run in a sandbox without an origin:
// they can read no other page, and load nothing from elsewhere. A profile is stripped of the files and
// addresses that it names before pprof sees it (see defuse).
//
// Reading a run takes up to some 1.5 s on first sight; its summary is kept until its files
// change. The most recently opened profiles are kept, up to mostViews.
package web
