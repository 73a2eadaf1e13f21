package stack

import "vperf/lib/record"

// KernelMode says what becomes of kernel frames.
type KernelMode uint8

// The kernel modes.
const (
	KernelFull     KernelMode = iota // they stay
	KernelBoundary                   // a run of them is one frame, "[kernel boundary]"
	KernelDrop                       // they go, and what only has such frames goes with them
)

// Boundary is the frame that stands for kernel frames.
var Boundary = record.Frame{Symbol: "[kernel boundary]", Kind: record.KindKernel}

// A Shape says which frames of a recording become frames of a stack.
type Shape struct {
	Kernel   KernelMode
	NoInline bool // leave out inlined frames: what they weigh goes to the function that holds them
	MaxDepth int  // longer stacks keep their leaf side; 0 is no limit
}

// Quality counts what a stack consists of.
type Quality struct {
	Frames     int
	Cut        bool // longer than MaxDepth
	Unresolved bool // its leaf is user code in a module, without symbol
	Broken     bool // a user frame is in no module, and not only the outermost of several: the unwinder lost its way
	Kernel     bool // a kernel frame has no symbol
}

// Add interns the stack that consists of root, if that is not 0, and of frames, leaf
// first, as far as they belong to the shape. Inlined frames get the module and the kind
// of the function that holds them. The stack is root where no frame is left.
func (s Shape) Add(in Interner, root record.ID, frames []record.Frame) (record.ID, Quality) {
	var q Quality
	q.Frames = len(frames)
	frames = s.keep(frames, &q)
	if s.MaxDepth > 0 && len(frames) > s.MaxDepth {
		frames = frames[:s.MaxDepth]
		q.Cut = true
	}
	id := root
	for i := len(frames) - 1; i >= 0; i-- {
		id = in.Stack(id, in.Frame(frames[i]))
	}
	return id, q
}

// keep filters frames in place.
func (s Shape) keep(frames []record.Frame, q *Quality) []record.Frame {
	kept := frames[:0]
	boundary := false
	inlined := 0 // frames at the end of kept that wait for their function
	known := 0   // frames that are in a module
	for i, f := range frames {
		if f.Inlined && f.Module == "" {
			if !s.NoInline {
				inlined++
				kept = append(kept, f)
			}
			continue
		}
		for j := len(kept) - inlined; j < len(kept); j++ {
			kept[j].Module, kept[j].Kind = f.Module, f.Kind
		}
		kernel := f.Kind == record.KindKernel
		if kernel && s.Kernel != KernelFull {
			kept = kept[:len(kept)-inlined]
			if s.Kernel == KernelBoundary && !boundary {
				kept = append(kept, Boundary)
			}
			boundary, inlined = true, 0
			continue
		}
		boundary, inlined = false, 0
		switch {
		case f.Symbol != "":
			known++
		case kernel:
			q.Kernel = true
		case f.Module != "":
			q.Unresolved = q.Unresolved || i == 0
			known++
		default:
			q.Broken = q.Broken || i < len(frames)-1 || known < 2
		}
		if !f.Inlined || !s.NoInline {
			kept = append(kept, f)
		}
	}
	return kept
}
