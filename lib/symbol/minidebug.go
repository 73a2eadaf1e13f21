package symbol

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

// miniDebugInfo opens the ELF file that Fedora's packages carry in .gnu_debugdata,
// compressed with xz: the functions that .dynsym lacks. It returns nil where there is none.
func miniDebugInfo(im *image) (mini *image, err error) {
	data := im.contents(im.Section(".gnu_debugdata"))
	if data == nil {
		return nil, nil
	}
	defer recovered(im.path+": .gnu_debugdata", &err)
	// Symbol tables shrink to a tenth or so; what claims more is a trap.
	limit := int64(len(data))*64 + 1<<20
	r, err := xz.ReaderConfig{SingleStream: true, DictCap: dictionary}.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: .gnu_debugdata: %w", im.path, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: .gnu_debugdata: %w", im.path, err)
	}
	if int64(len(plain)) > limit {
		return nil, fmt.Errorf("%s: .gnu_debugdata: more than 64 times larger than compressed", im.path)
	}
	return newImage(im.path+": .gnu_debugdata", bytes.NewReader(plain), int64(len(plain)))
}

const dictionary = 8 << 20
