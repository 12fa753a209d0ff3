package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/seed42274fcc/stoic/sanitize"
)

const (
	blockSize = 1 << 20
	// A private key that is longer is cut at the end of a line; a line at a blank where no
	// secret is torn apart, if there is one.
	longest = 8 * blockSize
)

// blocks reads whole lines, many at a time, in bounded memory.
type blocks struct {
	from   io.Reader
	buffer []byte
	filled int // of the buffer
	given  int // of it, with the last block
	over   bool
}

// next returns the next block, which is good until the next call; io.EOF behind the
// last one.
func (b *blocks) next() ([]byte, error) {
	if b.buffer == nil {
		b.buffer = make([]byte, blockSize)
	}
	b.filled = copy(b.buffer, b.buffer[b.given:b.filled])
	b.given = 0
	for {
		if end := b.end(); end > 0 {
			b.given = end
			return b.buffer[:end], nil
		}
		if b.over {
			return nil, io.EOF
		}
		if b.filled == len(b.buffer) {
			b.buffer = append(b.buffer, make([]byte, len(b.buffer))...)
		}
		n, err := b.from.Read(b.buffer[b.filled:])
		b.filled += n
		if errors.Is(err, io.EOF) {
			b.over = true
		} else if err != nil {
			return nil, err
		}
	}
}

// end is where a block may end; 0 while more must be read.
func (b *blocks) end() int {
	text := b.buffer[:b.filled]
	switch {
	case b.over:
		return b.filled
	case b.filled < len(b.buffer):
		return 0
	}
	if end := part(text, "\n"); end > 0 || b.filled < longest {
		return end
	}
	if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 {
		return end
	}
	if end := part(text, blanks); end > 0 {
		return end
	}
	if end := bytes.LastIndexAny(text, blanks) + 1; end > 0 {
		return end
	}
	return b.filled
}

const (
	blanks = " \t,"
	around = 4 << 10 // how much before and behind an end is looked at
	tries  = 64      // of lines, before more is read
)

// part is the last end of a line, or what else ends there, at which nothing is torn apart
// that is a secret only as a whole: a name from a value on the next line, a private key. It
// is 0 if there is none near.
func part(text []byte, ends string) int {
	last := func(before int) int { return bytes.LastIndexAny(text[:max(0, before)], ends) + 1 }
	end := last(len(text) - around)
	if key := unfinished(text[:end]); key >= 0 {
		end = key
	}
	for range tries {
		if end == 0 || apart(text, end) {
			return end
		}
		end = last(end - 1)
	}
	return 0
}

// apart says whether what is before the offset and what is behind it come to the same,
// each by itself, as both together.
func apart(text []byte, at int) bool {
	from, to := max(0, at-around), min(len(text), at+around)
	if line := bytes.IndexByte(text[from:at-1], '\n') + 1; from > 0 {
		from += line
	}
	whole := sanitize.Bytes(text[from:to])
	behind, isFirst := bytes.CutPrefix(whole, sanitize.Bytes(text[from:at]))
	return isFirst && bytes.Equal(behind, sanitize.Bytes(text[at:to]))
}

// unfinished is where the line begins of a block of lines with dashes round its name, such
// as a private key, that goes on behind the text; -1 if there is none.
func unfinished(text []byte) int {
	begin := max(lastDashed(text, "BEGIN "), lastDashed(text, "begin "))
	if begin < 0 || lastDashed(text[begin:], "END ") >= 0 || lastDashed(text[begin:], "end ") >= 0 {
		return -1
	}
	return bytes.LastIndexByte(text[:begin], '\n') + 1
}

// lastDashed is where a word stands last that has dashes before it; -1 if there is none.
// (bytes.LastIndex would take as long as all the rest.)
func lastDashed(text []byte, word string) int {
	last := -1
	for at := 0; ; at += len(word) {
		next := bytes.Index(text[at:], []byte(word))
		if next < 0 {
			return last
		}
		at += next
		if bytes.HasSuffix(bytes.TrimRight(text[:at], " "), []byte("----")) {
			last = at
		}
	}
}

// block goes over one block, and returns how many lines it has. A clean one is written
// as it is; of the others the lines that differ are counted.
func (j *job) block(name string, first int64, block []byte) (lines int64, err error) {
	lines = int64(bytes.Count(block, []byte{'\n'}))
	if block[len(block)-1] != '\n' {
		lines++
	}
	j.lines += lines
	clean := sanitize.Bytes(block)
	if len(clean) == len(block) && &clean[0] == &block[0] {
		return lines, j.write(block)
	}
	j.report(name, first, block, clean)
	return lines, j.write(clean)
}

func (j *job) write(text []byte) error {
	if j.check {
		return nil
	}
	_, err := j.out.Write(text)
	return err
}

// report counts the lines of a block that change, and says for -check which they are. The block is compared with what
// became of it, since what a line means depends on those around it. A secret of many lines, such as a key, counts as
// one, where it begins.
func (j *job) report(name string, first int64, block, clean []byte) {
	if !j.check && !j.stats && !j.terminal {
		return
	}
	gone := bytes.Count(block, []byte{'\n'}) - bytes.Count(clean, []byte{'\n'})
	for line := first; len(clean) > 0; line++ {
		var before, after []byte
		before, block = cutLine(block)
		after, clean = cutLine(clean)
		if bytes.Equal(before, after) {
			continue
		}
		began, more := line, ""
		for ; gone > 0 && !mayBecome(block, clean); gone-- {
			_, block = cutLine(block) // is behind this line's mask
			line++
			more = " (a secret of many lines)"
		}
		j.changed++
		if j.check {
			say(j.out, "%s:%d: %s%s\n", shown(name), began, sanitize.Message(string(bytes.TrimRight(after, "\r\n"))), more)
		}
	}
}

// mayBecome reports whether the first line of clean may be what became of the first line of block.
func mayBecome(block, clean []byte) bool {
	before, _ := cutLine(block)
	after, _ := cutLine(clean)
	kept, _, masked := bytes.Cut(after, []byte("***"))
	if !masked {
		return bytes.Equal(before, after)
	}
	return bytes.HasPrefix(before, bytes.TrimRight(kept, `"`)) // quotes may be new
}

func cutLine(text []byte) (line, rest []byte) {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return text[:n+1], text[n+1:]
	}
	return text, nil
}
