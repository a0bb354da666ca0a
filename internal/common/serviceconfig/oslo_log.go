package serviceconfig

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/c5c3/forge/internal/common/ini"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// handlerScript is the content of [logHandlerFile].
//
//go:embed files/forge_log.py
var handlerScript string

const (
	// loggingFile configures Python's logging for JSON logs.
	loggingFile = "logging.conf"
	// logHandlerFile is the Python file with the handler that loggingFile refers
	// to.
	logHandlerFile = "forge_log.py"
	logHandler     = "forge_log.LineStreamHandler"
)

// logOptions converts the logging block to options of oslo.log. folder is the
// directory of the configuration, with a trailing slash.
func logOptions(logging *commonv1.LoggingSpec, folder string) ini.File {
	options := ini.File{"DEFAULT": {"debug": strconv.FormatBool(logging.Debug)}}
	if levels := loggerLevels(logging); len(levels) > 0 {
		options.Set("DEFAULT", "default_log_levels", strings.Join(levels, ","))
	}
	if logging.Format == commonv1.LogFormatJSON {
		options.Set("DEFAULT", "log_config_append", folder+loggingFile)
	}
	return options
}

// rootLogger is the name under which Python returns the root logger
// (logging.getLogger, since Python 3.9). oslo.log's only option for its level is
// debug.
const rootLogger = "root"

// loggerLevels returns logger=LEVEL pairs sorted by logger. In text mode they
// include the level of the root logger, which logging.conf sets in JSON mode.
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

// jsonLogging returns a [loggingFile] that writes one JSON object per record to
// standard error. With such a file, oslo.log takes the levels of loggers from
// nowhere else.
func jsonLogging(logging *commonv1.LoggingSpec) ini.File {
	file := ini.File{
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
		// Python's parser of the file interprets a percent sign as the start of a
		// reference.
		qualified := strings.ReplaceAll(name, "%", "%%")
		file["logger_"+key] = map[string]string{"qualname": qualified, "level": levels[name], "handlers": ""}
		sections = append(sections, key)
	}
	file.Set("loggers", "keys", strings.Join(sections, ","))
	return file
}

// libraryLevels keep the libraries below a service from logging everything, as
// oslo.log's default_log_levels do without a logging.conf. The JSON formatter fails
// on some of their debug records.
var libraryLevels = map[string]string{
	"dogpile": "INFO", "iso8601": "WARNING", "keystoneauth": "WARNING", "oslo.cache": "INFO", "oslo_policy": "INFO",
	"requests.packages.urllib3.connectionpool": "WARNING", "routes": "INFO", "sqlalchemy": "WARNING", "stevedore": "WARNING",
	"urllib3.connectionpool": "WARNING",
}
