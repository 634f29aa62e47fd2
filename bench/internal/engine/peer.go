package engine

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// What a process that conducts turns and one that plays them say to each other, by gob over a
// pipe each way: the conductor asks, the player does it and answers. A change of what they say
// that an older benchrun would not understand needs a new record.Schema.

// The requests of a conductor.
const (
	askSit    = "sit"    // make the component of a sitting, fresh and filled
	askCrew   = "crew"   // make the actors of an operation
	askBegin  = "begin"  // begin its sitting
	askRound  = "round"  // do a round of operations
	askEnd    = "end"    // end the operation's sitting
	askFinish = "finish" // there is nothing more to do
)

type ask struct {
	What       string
	Sitting    int     // of askSit
	Op         load.Op // of askCrew
	Goroutines int
	Before, N  int // of askRound
	Count      bool
}

// answer is what an ask is answered with. A field that does not belong to the ask is zero.
type answer struct {
	Error       string // what failed; the player has then ended
	Unsupported string // why the implementation lacks the operation
	Deferred    int
	Turn        int
	Spent       spent
	Stopped     bool // errStopped
	Told        map[string]float64
	PerByte     float64 // ns of the collector for each allocated byte
}

// Player is the part of a process whose component takes turns with another process's.
type Player struct {
	// Sit makes the component of the i-th sitting, fresh and filled. Play stops it.
	Sit     func(i int) (Subject, error)
	Objects *synthetic.Objects
	// Fork gets the metrics of the process.
	Fork *record.Fork
}

// Play answers a conductor until that asks for the end. It is ErrLeft if the conductor has
// ended before.
func (p Player) Play(ctx context.Context, in *gob.Decoder, out *gob.Encoder) error {
	s := stage{player: p, gc: newCollector(), meter: newMeter(), unpin: func() {}}
	defer s.close()
	cost, err := harnessCost(p.Objects.Keys(), s.gc, s.meter)
	if err != nil {
		return err
	}
	p.Fork.Process[metrics.HarnessNs] = cost
	for ctx.Err() == nil {
		var a ask
		if err := in.Decode(&a); errors.Is(err, io.EOF) {
			return ErrLeft
		} else if err != nil {
			return err
		}
		reply, err := s.do(a)
		if err != nil {
			reply.Error = err.Error()
		}
		if err := errors.Join(err, out.Encode(reply)); err != nil || a.What == askFinish {
			return err
		}
	}
	return ctx.Err()
}

// ErrLeft is the error of a player whose conductor has ended.
var ErrLeft = errors.New("the process that conducts the turns has ended")

// stage is where a player plays.
type stage struct {
	player  Player
	gc      *collector
	meter   *meter
	subject Subject // of this sitting
	sitting int
	crew    *actors
	unpin   func() // of the thread that is pinned
}

func (s *stage) close() {
	s.unpin()
	if s.subject != nil {
		s.subject.Stop()
	}
	s.meter.close()
	s.gc.release()
}

func (s *stage) do(a ask) (reply answer, err error) {
	switch a.What {
	case askSit:
		return reply, s.sit(a.Sitting)
	case askCrew:
		made, err := Crew(s.subject, a.Op, a.Goroutines)
		if errors.Is(err, ErrUnsupported) {
			return answer{Unsupported: err.Error()}, nil
		}
		if err != nil {
			return reply, fmt.Errorf("%s: %w", a.Op, err)
		}
		s.crew = &actors{made, s.gc, s.meter}
		return answer{Deferred: s.crew.deferred(), Turn: s.crew.wholeTurn()}, nil
	case askBegin:
		s.pin()
		return reply, s.crew.begin()
	case askRound:
		reply.Spent, err = s.crew.round(a.Before, a.N, a.Count)
		reply.Stopped = errors.Is(err, errStopped)
		return reply, nil
	case askEnd:
		reply.Told, err = s.crew.end()
		s.unpin()
		return reply, err
	case askFinish:
		return answer{PerByte: s.gc.perByte()}, nil
	}
	return reply, fmt.Errorf("a conductor asks for %q, which this benchrun does not know", a.What)
}

func (s *stage) sit(i int) (err error) {
	if s.subject != nil {
		s.subject.Stop()
	}
	s.crew, s.sitting = nil, i
	if s.subject, err = s.player.Sit(i); err != nil {
		return err
	}
	if i == 0 {
		s.gc.collect()
	}
	s.gc.tidy()
	return nil
}

// pin keeps an operation of one goroutine on one processor, which is another in each sitting.
// Both players have the same one: two that stay on different processors for a sitting differ
// by what these processors do.
func (s *stage) pin() {
	if s.crew.goroutines() > 1 {
		return
	}
	unpin := sysinfo.PinThread(s.sitting)
	s.unpin = func() {
		unpin()
		s.unpin = func() {}
	}
}

// Peer is a player, as its conductor sees it.
type Peer struct {
	in  *gob.Decoder
	out *gob.Encoder
}

// NewPeer returns the player that is asked through out and answers through in.
func NewPeer(in *gob.Decoder, out *gob.Encoder) *Peer { return &Peer{in, out} }

func (p *Peer) send(a ask) error {
	if err := p.out.Encode(a); err != nil {
		return fmt.Errorf("asking a process for a %s: %w", a.What, err)
	}
	return nil
}

func (p *Peer) receive() (reply answer, err error) {
	if err := p.in.Decode(&reply); err != nil {
		return reply, fmt.Errorf("reading the answer of a process that takes turns: %w", err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}

func (p *Peer) call(a ask) (answer, error) {
	if err := p.send(a); err != nil {
		return answer{}, err
	}
	return p.receive()
}

// unsupported is the text of an error that wrapped ErrUnsupported in another process.
type unsupported string

func (u unsupported) Error() string      { return string(u) }
func (unsupported) Is(target error) bool { return target == ErrUnsupported }

// distant is a crew in another process.
type distant struct {
	peer *Peer
	size int // goroutines
	late int // deferred
	turn int // wholeTurn
}

func (d *distant) goroutines() int { return d.size }
func (d *distant) deferred() int   { return d.late }
func (d *distant) wholeTurn() int  { return d.turn }

func (d *distant) begin() error {
	_, err := d.peer.call(ask{What: askBegin})
	return err
}

func (d *distant) round(before, n int, count bool) (spent, error) {
	reply, err := d.peer.call(ask{What: askRound, Before: before, N: n, Count: count})
	if err == nil && reply.Stopped {
		err = errStopped
	}
	return reply.Spent, err
}

func (d *distant) end() (map[string]float64, error) {
	reply, err := d.peer.call(ask{What: askEnd})
	return reply.Told, err
}
