package bench

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Two builds of an implementation cannot live in one process. Each has a process of its own,
// which carries out [Play], and the two take turns as [Conduct] tells them.

// Conduct measures one fork of a cell, whose workload must be AllInTurns, by two processes:
// base and head, in this order, as requests and pipes are. Request.Against does not count. The
// records of both have values of their own, and head's the ratios to base's.
func Conduct(ctx context.Context, requests [2]Request, pipes []sysinfo.Pipes) (forks [2]record.Fork,
	err error) {
	w, err := load.ParseWorkload(requests[0].Cell.Workload, []byte(requests[0].Workload))
	if err != nil {
		return forks, err
	}
	var in [2]*gob.Decoder
	var peers [2]*engine.Peer
	for i, p := range pipes {
		out := gob.NewEncoder(p.In)
		if err := out.Encode(requests[i]); err != nil {
			return forks, fmt.Errorf("asking a process for a fork: %w", err)
		}
		in[i] = gob.NewDecoder(p.Out)
		peers[i] = engine.NewPeer(in[i], out)
	}
	results, err := engine.Conduct(ctx, peers[0], peers[1], w, requests[0].Index)
	if err != nil {
		return forks, err
	}
	for i := range forks {
		if err := in[i].Decode(&forks[i]); err != nil {
			return forks, fmt.Errorf("reading the record of a process that took turns: %w", err)
		}
		forks[i].Series, forks[i].Unsupported = results[i].Series, results[i].Unsupported
		forks[i].Seconds /= float64(len(forks))
	}
	return forks, nil
}

// Play is one process of those that take turns. It reads a Request and what Conduct asks from
// in, and answers to out, at last with the record of the fork. That the conductor has ended
// is no error: it says itself why.
func Play(ctx context.Context, in io.Reader, out io.Writer) error {
	asked, answers := gob.NewDecoder(in), gob.NewEncoder(out)
	var req Request
	if err := asked.Decode(&req); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	f, w, own, err := begin(req)
	if err != nil {
		return err
	}
	if err := subject.Play(ctx, *own, w, &f, asked, answers); errors.Is(err, engine.ErrLeft) {
		return nil
	} else if err != nil {
		return err
	}
	end(&f)
	return answers.Encode(f)
}
