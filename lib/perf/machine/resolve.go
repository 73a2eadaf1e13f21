package machine

import (
	"vperf/lib/perf/data"
	"vperf/lib/perf/recording"
)

// stack returns the number of a call chain's stack.
func (s *Source) stack(t *thread, chain []byte, mode uint16, ip uint64) int32 {
	user := t.process.space
	user.used, s.kernel.used = true, true
	if len(chain) == 0 {
		return s.leaf(user, mode, ip)
	}
	stack, hash, ok := s.chains.find(chain, user.id, s.kernel.id)
	if !ok {
		stack = s.resolve(user, chain)
		s.chains.add(chain, user.id, s.kernel.id, hash, stack)
	}
	if stack == 0 { // contexts alone
		return s.leaf(user, mode, ip)
	}
	return stack
}

// leaf returns the stack of one address.
func (s *Source) leaf(user *space, mode uint16, ip uint64) int32 {
	s.scratch = s.address(s.scratch[:0], user, mode, ip, false)
	return s.number(s.scratch)
}

// address appends the frames of one address. returns says that a call returns to it.
func (s *Source) address(dst []int32, user *space, mode uint16, ip uint64, returns bool) []int32 {
	switch mode {
	case data.ModeKernel:
		m := s.kernel.find(ip)
		if m == nil && s.main.module != nil && ip >= s.main.start {
			// What was recorded ends with the text, where the code for the start is not.
			if _, ok := s.frames.modules.table(s.main.module).Symbol(ip); ok {
				m = &s.main
			}
		}
		return s.frames.append(dst, m, ip, true, returns)
	case data.ModeUser:
		return s.frames.append(dst, user.find(ip), ip, false, returns)
	}
	return s.frames.append(dst, nil, ip, false, returns)
}

// resolve looks up the addresses of a chain. The first of each context is where the thread
// was, the others are where calls return to.
func (s *Source) resolve(user *space, chain []byte) int32 {
	frames := s.scratch[:0]
	mode := uint16(data.ModeUser)
	rec := s.r.Record()
	returns := false
	for i := range data.Words(chain) {
		ip := rec.Word(chain, i)
		if ip < data.ContextMax {
			frames = s.address(frames, user, mode, ip, returns)
			returns = true
			continue
		}
		returns = false
		switch ip {
		case data.ContextKernel:
			mode = data.ModeKernel
		case data.ContextUser:
			mode = data.ModeUser
		default:
			mode = data.ModeUnknown
		}
	}
	s.scratch = frames
	return s.number(frames)
}

// number returns the number of a stack, 0 for one without frames.
func (s *Source) number(frames []int32) int32 {
	var hash uint64
	for _, f := range frames {
		hash = recording.Mix(hash, f)
	}
	return int32(s.stacks.Number(frames, hash))
}
