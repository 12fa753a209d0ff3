package sanitize

import "unsafe"

// view is the bytes as a string, without a copy. It is for reading while nobody
// writes to the bytes; what is kept longer is copied.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
