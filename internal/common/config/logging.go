package config

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// LogHandler is the content of [LogHandlerFile].
//
//go:embed files/forge_log.py
var LogHandler string

const (
	// LoggingFile is where Python's logging is configured when the log is JSON.
	LoggingFile = "logging.conf"
	// LogHandlerFile is the Python file with the handler that LoggingFile names.
	LogHandlerFile = "forge_log.py"
	logHandler     = "forge_log.LineStreamHandler"
)

// LoggingOptions turn the logging block into oslo.log's options. folder is the directory of
// the configuration, with a slash at its end.
func LoggingOptions(logging *commonv1.LoggingSpec, folder string) INI {
	options := INI{"DEFAULT": {"debug": strconv.FormatBool(logging.Debug)}}
	if levels := loggerLevels(logging); len(levels) > 0 {
		options.Set("DEFAULT", "default_log_levels", strings.Join(levels, ","))
	}
	if logging.Format == commonv1.LogFormatJSON {
		options.Set("DEFAULT", "log_config_append", folder+LoggingFile)
	}
	return options
}

// rootLogger is the name by which Python gives out the root logger
// (logging.getLogger, since Python 3.9). oslo.log has no option for its level but
// debug.
const rootLogger = "root"

// loggerLevels are logger=LEVEL pairs sorted by logger. In text mode the level of
// the root logger is one of them; logging.conf has it otherwise.
func loggerLevels(logging *commonv1.LoggingSpec) []string {
	levels := map[string]string{}
	if logging.Format == commonv1.LogFormatText && logging.Level != commonv1.DefaultLogLevel {
		if logging.Level == commonv1.LogLevelDebug {
			maps.Copy(levels, libraryLevels)
		}
		levels[rootLogger] = string(logging.Level)
	}
	maps.Copy(levels, logging.PerLoggerLevels)
	pairs := make([]string, 0, len(levels))
	for _, logger := range slices.Sorted(maps.Keys(levels)) {
		pairs = append(pairs, logger+"="+levels[logger])
	}
	return pairs
}

// JSONLogging is a [LoggingFile] that writes one JSON object for each record to
// standard error. oslo.log takes no level of a logger from anywhere else once
// there is such a file.
func JSONLogging(logging *commonv1.LoggingSpec) INI {
	file := INI{
		"handlers":    {"keys": "stderr"},
		"formatters":  {"keys": "json"},
		"logger_root": {"level": string(logging.Level), "handlers": "stderr"},
		"handler_stderr": {
			"class": logHandler, "args": "(sys.stderr,)", "level": "NOTSET", "formatter": "json",
		},
		"formatter_json": {"class": "oslo_log.formatters.JSONFormatter"},
	}
	levels := map[string]string{}
	if logging.Level == commonv1.LogLevelDebug {
		maps.Copy(levels, libraryLevels)
	}
	maps.Copy(levels, logging.PerLoggerLevels)
	sections := make([]string, 1, len(levels)+1)
	sections[0] = "root"
	for i, name := range slices.Sorted(maps.Keys(levels)) {
		key := fmt.Sprintf("level%d", i)
		// Python's reader of the file takes a percent sign for the start of a reference.
		qualified := strings.ReplaceAll(name, "%", "%%")
		file["logger_"+key] = map[string]string{"qualname": qualified, "level": levels[name], "handlers": ""}
		sections = append(sections, key)
	}
	file.Set("loggers", "keys", strings.Join(sections, ","))
	return file
}

// libraryLevels keep the libraries below Keystone from logging everything they
// do, as oslo.log does without a logging.conf (its default_log_levels). Its JSON
// formatter cannot even write some of their records.
var libraryLevels = map[string]string{
	"dogpile": "INFO", "iso8601": "WARNING", "keystoneauth": "WARNING", "oslo.cache": "INFO", "oslo_policy": "INFO",
	"requests.packages.urllib3.connectionpool": "WARNING", "routes": "INFO", "sqlalchemy": "WARNING", "stevedore": "WARNING",
	"urllib3.connectionpool": "WARNING",
}
