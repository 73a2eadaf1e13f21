package machine

import (
	"strconv"
	"strings"

	"vperf/lib/perf/data"
	"vperf/lib/record"
)

// frames makes the frames of addresses, and numbers them.
type frames struct {
	modules   modules
	addresses bool // frames bear them
	inlined   bool // functions that the compiler put into others are frames of their own

	list    []record.Frame // from 1
	ids     map[frameKey]int32
	memo    *addressMemo
	several [][]int32 // frames of one address, by -number-1
}

// A frameKey is what distinguishes frames.
type frameKey struct {
	symbol  string
	module  int32 // 0 for none
	kernel  bool
	inlined bool
	address uint64 // where frames bear it
}

func newFrames(o Options, info *data.Info) frames {
	return frames{
		modules:   modules{byPath: map[string][]*module{}, open: o.Open, info: info},
		addresses: o.Addresses, inlined: o.Inlined,
		list: make([]record.Frame, 1), ids: map[frameKey]int32{}, memo: newAddressMemo(),
	}
}

// append appends the frames of an address, the innermost first, to dst. m is where it is
// mapped, nil if it is not. returns says that the address is one that a call returns to.
func (f *frames) append(dst []int32, m *mapping, address uint64, kernel, returns bool) []int32 {
	if m == nil {
		return append(dst, f.unknown(address, kernel))
	}
	offset := address
	if !m.module.addressy {
		offset += m.offset - m.start
	}
	id := m.module.id << 1
	if returns {
		id |= 1
	}
	e := f.memo.at(id, offset)
	if e.module == 0 {
		made := addressEntry{offset, id, f.make(m.module, offset, returns)}
		f.memo.add(made)
		e = &made
	}
	if e.frames > 0 {
		return append(dst, e.frames)
	}
	return append(dst, f.several[-e.frames-1]...)
}

// kernelStart is the lowest address of kernel code on the 64-bit machines that perf runs
// on, sign-extended addresses of 48 bits.
const kernelStart = 0xffff_0000_0000_0000

// unknown returns the frame of an address where nothing is mapped.
func (f *frames) unknown(address uint64, kernel bool) int32 {
	kernel = kernel || address >= kernelStart
	frame := record.Frame{Kind: record.KindUnknown}
	if kernel {
		frame.Kind = record.KindKernel
	}
	key := frameKey{kernel: kernel}
	if f.addresses {
		frame.Address, key.address = hexAddress(address), address
	}
	return f.number(key, frame)
}

// make makes the frames of an offset of a module: the number of one, or a negative one for
// a list.
//
// A call returns to the instruction behind it, which may be of another inlined function
// than the call: inlined functions are those of the byte before. The symbol is that of the
// address itself, as perf has it, so the two agree only where that byte is in the symbol.
func (f *frames) make(m *module, offset uint64, returns bool) int32 {
	frame := record.Frame{Symbol: m.only, Module: m.name, Kind: m.kind}
	names := f.modules.table(m)
	at := offset
	if m.only == "" {
		if s, ok := names.Symbol(offset); ok {
			frame.Symbol = strings.ToValidUTF8(s.Name, "\ufffd")
			if returns && offset > s.Start {
				at = offset - 1
			}
		}
	}
	key := frameKey{symbol: frame.Symbol, module: m.id, kernel: m.kind == record.KindKernel}
	if f.addresses {
		frame.Address, key.address = hexAddress(offset), offset
	}
	outer := f.number(key, frame)
	if !f.inlined || frame.Symbol == "" {
		return outer
	}
	var list []int32
	for _, in := range names.Frames(at) {
		if !in.Inlined {
			break
		}
		inner := record.Frame{Symbol: strings.ToValidUTF8(in.Name, "\ufffd"), Kind: m.kind, Inlined: true, Address: frame.Address}
		key.symbol, key.inlined = inner.Symbol, true
		list = append(list, f.number(key, inner))
	}
	if list == nil {
		return outer
	}
	f.several = append(f.several, append(list, outer))
	return int32(-len(f.several))
}

func (f *frames) number(key frameKey, frame record.Frame) int32 {
	if id, ok := f.ids[key]; ok {
		return id
	}
	id := int32(len(f.list))
	frame.ID = record.ID(id)
	f.list = append(f.list, frame)
	f.ids[key] = id
	return id
}

func hexAddress(a uint64) string { return "0x" + strconv.FormatUint(a, 16) }
