package gen

import "encoding/binary"

// What is read of a FileDescriptorProto, by the numbers of its fields: of the services
// (6) their names (1) and methods (2), of those the names (1) and in the options (4)
// the idempotency_level (34), which is 1 for no side effects and 2 for idempotent.
// Anything that is no descriptor has none of these.
const (
	fieldName    = 1
	fieldMethod  = 2
	fieldOptions = 4
	fieldService = 6
	fieldLevel   = 34
)

// fileDescriptor adds the methods that a descriptor calls idempotent.
func fileDescriptor(raw []byte, found map[string]bool) {
	fields(raw, func(number uint64, _ uint64, service []byte) {
		if number != fieldService {
			return
		}
		var name string
		fields(service, func(number uint64, _ uint64, value []byte) {
			if number == fieldName {
				name = string(value)
			}
		})
		fields(service, func(number uint64, _ uint64, value []byte) {
			if method, idempotent := methodDescriptor(value); number == fieldMethod && idempotent {
				found[goName(name)+"."+goName(method)] = true
			}
		})
	})
}

func methodDescriptor(raw []byte) (name string, idempotent bool) {
	fields(raw, func(number uint64, _ uint64, value []byte) {
		switch number {
		case fieldName:
			name = string(value)
		case fieldOptions:
			fields(value, func(number uint64, level uint64, _ []byte) {
				if number == fieldLevel {
					idempotent = level == 1 || level == 2
				}
			})
		}
	})
	return name, idempotent
}

// fields calls visit with each field of a message in protobuf's wire format: a number
// or bytes. It ends at the first thing that is not in that format.
func fields(raw []byte, visit func(number, value uint64, data []byte)) {
	for len(raw) > 0 {
		tag, n := binary.Uvarint(raw)
		if n <= 0 {
			return
		}
		raw = raw[n:]
		var value uint64
		var data []byte
		size := 0
		switch tag & 7 {
		case 0:
			if value, size = binary.Uvarint(raw); size <= 0 {
				return
			}
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(raw)
			if n <= 0 || length > uint64(len(raw)-n) {
				return
			}
			size = n + int(length)
			data = raw[n:size]
		case 5:
			size = 4
		default:
			return
		}
		if size > len(raw) {
			return
		}
		visit(tag>>3, value, data)
		raw = raw[size:]
	}
}
