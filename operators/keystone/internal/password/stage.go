package password

import "time"

// stage is how far the next password has come.
type stage struct {
	reason, message string
	// again is the delay after which the delivery has taken too long, zero if nothing is
	// in transit.
	again time.Duration
	// backupProblem is why the secret store does not have the password, "" if no problem
	// is known.
	backupProblem string
}

// refusalError reports that a password is not promoted or not delivered until the user
// changes something.
type refusalError struct {
	// reason is the reason of the condition.
	reason string
	cause  error
}

func (e *refusalError) Error() string { return e.cause.Error() }

func (e *refusalError) Unwrap() error { return e.cause }
