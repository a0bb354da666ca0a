package serviceconfig

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestJSONLogsFollowTheLevelOfEachLogger(t *testing.T) {
	g := NewWithT(t)
	file := jsonLogging(&commonv1.LoggingSpec{
		Format: commonv1.LogFormatJSON, Level: commonv1.LogLevelError,
		PerLoggerLevels: map[string]string{"keystone.token": "DEBUG", "100%": "INFO"},
	})
	g.Expect(file["loggers"]).To(HaveKeyWithValue("keys", "root,level0,level1"))
	g.Expect(file["logger_root"]).To(HaveKeyWithValue("level", "ERROR"))
	g.Expect(file["logger_level0"]).To(Equal(map[string]string{"qualname": "100%%", "level": "INFO", "handlers": ""}))
	g.Expect(file["logger_level1"]).To(Equal(map[string]string{"qualname": "keystone.token", "level": "DEBUG", "handlers": ""}))
}

// At this level the JSON formatter fails on records that SQLAlchemy logs about
// itself.
func TestJSONLogsAtLevelDebugLeaveTheLibrariesOut(t *testing.T) {
	g := NewWithT(t)
	logging := &commonv1.LoggingSpec{Format: commonv1.LogFormatJSON, Level: commonv1.LogLevelDebug}
	levels := map[string]string{}
	for _, section := range jsonLogging(logging) {
		if section["qualname"] != "" {
			levels[section["qualname"]] = section["level"]
		}
	}
	g.Expect(levels).To(Equal(libraryLevels))
	logging.Level = commonv1.LogLevelInfo
	g.Expect(jsonLogging(logging)["loggers"]).To(HaveKeyWithValue("keys", "root"))
}

func TestTheRootLoggerLevelOfTextLogsFollowsTheSpec(t *testing.T) {
	for name, test := range map[string]struct {
		level  commonv1.LogLevel
		single map[string]string
		want   []string
	}{
		"the default is that of oslo.log": {level: commonv1.LogLevelInfo},
		"another level":                   {level: commonv1.LogLevelError, want: []string{"root=ERROR"}},
		"another level but for one logger": {
			commonv1.LogLevelWarning, map[string]string{"keystone.token": "DEBUG"}, []string{"keystone.token=DEBUG", "root=WARNING"},
		},
		"the user's own root": {commonv1.LogLevelWarning, map[string]string{"root": "INFO"}, []string{"root=INFO"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(loggerLevels(&commonv1.LoggingSpec{
				Format: commonv1.LogFormatText, Level: test.level, PerLoggerLevels: test.single,
			})).To(ConsistOf(test.want))
		})
	}
}

// Loggers that the spec does not name keep oslo.log's default levels; our option
// replaces that list as a whole.
func TestTextLogsAtLevelDebugLeaveTheLibrariesOut(t *testing.T) {
	g := NewWithT(t)
	levels := loggerLevels(&commonv1.LoggingSpec{Format: commonv1.LogFormatText, Level: commonv1.LogLevelDebug})
	g.Expect(levels).To(HaveLen(len(libraryLevels) + 1))
	g.Expect(levels).To(ContainElements("root=DEBUG", "sqlalchemy=WARNING"))
}

// The Python tests of the handler log with this file.
func TestTheLoggingFileForJSONMatchesItsGoldenFile(t *testing.T) {
	content, err := jsonLogging(&commonv1.LoggingSpec{
		Format: commonv1.LogFormatJSON, Level: commonv1.LogLevelInfo, PerLoggerLevels: map[string]string{"sqlalchemy.engine": "WARNING"},
	}).Render()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "logging.conf", content)
}
