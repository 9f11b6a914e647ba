package registry

import (
	"fmt"
	"net/http"
)

// Error is what a client is told: Confluent's codes and messages.
type Error struct {
	Status  int    `json:"-"`
	Code    int    `json:"error_code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// fail makes an error of a code whose first three digits are the status.
func fail(code int, format string, args ...any) *Error {
	status := code
	for status > 999 {
		status /= 10
	}
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func plain(status int) *Error {
	return &Error{Status: status, Code: status, Message: fmt.Sprintf("HTTP %d %s", status, http.StatusText(status))}
}

func subjectNotFound(subject string) *Error { return fail(40401, "Subject '%s' not found.", subject) }
func versionNotFound(version int32) *Error  { return fail(40402, "Version %d not found.", version) }
func schemaNotFound() *Error                { return fail(40403, "Schema not found") }

func invalidVersion(version string) *Error {
	return fail(42202, `The specified version '%s' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"`, version)
}

func invalidSubject(subject string) *Error {
	return fail(42208, "The specified subject '%s' is not a valid.", subject)
}

func invalidSchema(format string, args ...any) *Error { return fail(42201, format, args...) }
func notPermitted(format string, args ...any) *Error  { return fail(42205, format, args...) }

func referenceExists(subject string, version int32) *Error {
	return fail(42206, "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=%s,version=%d}.", subject, version)
}

func inReadOnlyMode(subject string) *Error {
	return notPermitted("Subject %s in context %s is in read-only mode", subject, contextPrefix(subject))
}
