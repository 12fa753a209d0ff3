package httpguard

import (
	"bytes"
	"io"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

// keepBody makes a body that takes the context along: it is released when the body is
// closed, or there is no more to be read.
func keepBody(of io.ReadCloser, held *resilient.Held) io.ReadCloser {
	if of == nil || of == http.NoBody {
		held.Release()
		return http.NoBody
	}
	kept := &body{of, held}
	if w, ok := of.(io.Writer); ok { // 101 Switching Protocols: a connection
		return &connection{kept, w}
	}
	return kept
}

// body is one that is readable after its call has returned.
type body struct {
	io.ReadCloser
	held *resilient.Held
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.held.Release()
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.held.Release()
	return err
}

// connection is the body of a response that has switched protocols.
type connection struct {
	*body
	io.Writer
}

// remains are what was read of a body that has been closed.
type remains struct {
	*bytes.Reader
	all bool
}

func (r *remains) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF && !r.all {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (r *remains) Close() error { return nil }

// verdict is the body of a response that is no answer, and what the guard made of it.
type verdict struct {
	io.ReadCloser
	err error
}

func (v *verdict) verdict() error { return v.err }
