package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/seed42274fcc/stoic/resilient"
)

// errNoSession says that there is no session of that id. It is an answer: see classify.
var errNoSession = errors.New("no such session")

// sessionService keeps sessions.
//
//resilient:service session_service
type sessionService interface {
	// Load returns a session's state.
	//
	//resilient:idempotent
	//resilient:op load_session
	Load(ctx context.Context, id string) (string, error)

	// Save replaces a session's state. Somebody else may have replaced it between two attempts, so there is only one.
	//
	//resilient:op save_session
	Save(ctx context.Context, id, state string) error

	// Close closes the service. It needs no directive: a circuit keeps nobody from closing.
	Close() error
}

// newSessionService returns the session service with its guard.
func newSessionService(guards resilient.Guards, path string) sessionService {
	return newResilientSessionService(&sessionFile{path: path}, guards)
}

// sessionFile keeps sessions in a database file, which it opens when it is first needed. Only one process can have the
// file open; that it is another one for the moment is a failure like a server's that is down.
type sessionFile struct {
	path string

	mu sync.Mutex
	db *bbolt.DB
}

func (s *sessionFile) Load(_ context.Context, id string) (string, error) {
	db, err := s.open()
	if err != nil {
		return "", err
	}
	return loadSession(db, id)
}

func (s *sessionFile) Save(_ context.Context, id, state string) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	return saveSession(db, id, state)
}

func (s *sessionFile) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// open returns the open file. bbolt knows no contexts; the time that it waits for the lock is short instead.
func (s *sessionFile) open() (*bbolt.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		db, err := openSessions(s.path)
		if err != nil {
			return nil, err
		}
		s.db = db
	}
	return s.db, nil
}

func openSessions(path string) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: 20 * time.Millisecond})
	if err != nil {
		return nil, fmt.Errorf("session file: %w", err)
	}
	return db, nil
}

var sessionBucket = []byte("sessions")

func loadSession(db *bbolt.DB, id string) (state string, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		var found []byte
		if bucket := tx.Bucket(sessionBucket); bucket != nil {
			found = bucket.Get([]byte(id))
		}
		if found == nil {
			return errNoSession
		}
		state = string(found)
		return nil
	})
	return state, err
}

func saveSession(db *bbolt.DB, id, state string) error {
	return db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists(sessionBucket)
		if err != nil {
			return err
		}
		return bucket.Put([]byte(id), []byte(state))
	})
}
