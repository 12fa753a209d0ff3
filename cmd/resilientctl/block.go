package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/seed42274fcc/stoic/sanitize"
)

const (
	blockSize = 1 << 20
	// A line that is longer is cut, at a blank where there is one.
	longest = 8 * blockSize
	// What belongs together, such as the lines of a private key, is kept so when it is no
	// longer than this.
	together = 64 << 10
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
	end := beforeKey(text, beforeIndented(text))
	if end == 0 && b.filled >= longest {
		if end = bytes.LastIndexAny(text, " \t,") + 1; end == 0 {
			end = b.filled
		}
	}
	return end
}

// beforeIndented is where the last line begins that is not further in than the one
// before, as the lines of a value are in YAML: there, or else where the last line ends.
func beforeIndented(text []byte) int {
	last := bytes.LastIndexByte(text, '\n') + 1
	for at := last; at > max(0, len(text)-together); at = bytes.LastIndexByte(text[:at-1], '\n') + 1 {
		if at < len(text) && !bytes.ContainsRune([]byte(" \t-"), rune(text[at])) {
			return at
		}
	}
	return last
}

// keyStarts are how the first line of a key begins.
var keyStarts = [...]string{"-----BEGIN ", "-----begin ", "---- BEGIN ", "---- begin "}

// beforeKey is where the line begins of a key that goes on at the end; else the end.
func beforeKey(text []byte, end int) int {
	from := max(0, end-together)
	for _, start := range keyStarts {
		key := bytes.LastIndex(text[from:end], []byte(start))
		if key < 0 {
			continue
		}
		key += from
		if rest := bytes.ToUpper(text[key+1 : end]); !bytes.Contains(rest, []byte("----END ")) && !bytes.Contains(rest, []byte("---- END ")) {
			return bytes.LastIndexByte(text[:key], '\n') + 1
		}
	}
	return end
}

// block goes over one block, and returns how many lines it has. A clean one is written
// as it is; of the others the lines are looked at one by one, to count them.
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
	j.report(name, first, block)
	return lines, j.write(clean)
}

func (j *job) write(text []byte) error {
	if j.check {
		return nil
	}
	_, err := j.out.Write(text)
	return err
}

// report counts the lines of a block that change, and says for -check which they are.
// A secret of many lines, such as a key, counts as one, where the block begins.
func (j *job) report(name string, first int64, block []byte) {
	if !j.check && !j.stats && !j.terminal {
		return
	}
	found := false
	tell := func(line int64, text []byte) {
		found = true
		j.changed++
		if j.check {
			say(j.out, "%s:%d: %s\n", shown(name), line, sanitize.Message(string(bytes.TrimRight(text, "\r\n"))))
		}
	}
	rest := block
	for line := first; len(rest) > 0; line++ {
		var text []byte
		text, rest = cutLine(rest)
		if after := sanitize.Bytes(text); !bytes.Equal(after, text) {
			tell(line, after)
		}
	}
	if !found {
		tell(first, []byte("a secret of many lines"))
	}
}

func cutLine(text []byte) (line, rest []byte) {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return text[:n+1], text[n+1:]
	}
	return text, nil
}
