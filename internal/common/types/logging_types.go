package types

// LogFormat is the form of a log record.
//
// +kubebuilder:validation:Enum=text;json
type LogFormat string

const (
	// LogFormatText writes a record as a line of text.
	LogFormatText LogFormat = "text"
	// LogFormatJSON writes a record as one JSON object on a line.
	LogFormatJSON LogFormat = "json"
)

// LogLevel is the lowest severity that is logged, as Python names it.
//
// +kubebuilder:validation:Enum=DEBUG;INFO;WARNING;ERROR;CRITICAL
type LogLevel string

// The levels of Python's logging, from the most to the least verbose.
const (
	LogLevelDebug    LogLevel = "DEBUG"
	LogLevelInfo     LogLevel = "INFO"
	LogLevelWarning  LogLevel = "WARNING"
	LogLevelError    LogLevel = "ERROR"
	LogLevelCritical LogLevel = "CRITICAL"
)

// LoggingSpec sets the format and the levels of a service's log. The log always goes to
// standard error.
type LoggingSpec struct {
	// format is the format of a log record: "text" is a line for humans, "json" is one
	// object per line for log collectors. A JSON record of more than 4096 bytes is split
	// into several records. Each has a part of the message and the fields part and parts.
	// The default is "text".
	//
	// +optional
	// +default="text"
	Format LogFormat `json:"format,omitempty"`

	// level is the lowest severity that is logged: DEBUG, INFO, WARNING, ERROR
	// or CRITICAL. The default is "INFO".
	//
	// +optional
	// +default="INFO"
	Level LogLevel `json:"level,omitempty"`

	// debug turns on the service's debug mode. It logs more than level DEBUG alone. The
	// default is false.
	//
	// +optional
	// +default=false
	Debug bool `json:"debug,omitempty"`

	// perLoggerLevels sets the level of individual loggers. Example:
	// {"sqlalchemy.engine": "WARNING"}.
	//
	// +optional
	PerLoggerLevels map[string]string `json:"perLoggerLevels,omitempty"`
}
