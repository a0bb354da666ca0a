package apitest

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// configurationViolations concern the configuration of the service.
var configurationViolations = []serviceViolation{
	{
		"an unknown log format", func(s *commonv1.ServiceSpec) { s.Logging = &commonv1.LoggingSpec{Format: "xml"} },
		"spec.logging.format", "Unsupported value", "Unsupported value", "",
	},
	{
		"an unknown log level", func(s *commonv1.ServiceSpec) { s.Logging = &commonv1.LoggingSpec{Level: "TRACE"} },
		"spec.logging.level", "Unsupported value", "Unsupported value", "",
	},
	{
		"an unknown level of a logger", func(s *commonv1.ServiceSpec) {
			s.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"sqlalchemy.engine": "warn"}}
		},
		"spec.logging.perLoggerLevels[sqlalchemy.engine]", "level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL", "", "",
	},
	{
		"a logger without a name", func(s *commonv1.ServiceSpec) {
			s.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"": "INFO"}}
		},
		"spec.logging.perLoggerLevels[]", "logger name must not be empty", "", "",
	},
	{
		"a logger name that adds another logger", func(s *commonv1.ServiceSpec) {
			s.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"a=DEBUG,b": "INFO"}}
		},
		"spec.logging.perLoggerLevels[a=DEBUG,b]", "logger name must not be empty or contain", "", "",
	},
}
