package controller

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/c5c3/forge/internal/common/cluster"
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

// At this level the JSON formatter fails on what SQLAlchemy logs about itself.
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

func TestTheLevelOfTheRootLoggerFollowsTheSpecInText(t *testing.T) {
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

// What the spec does not name stays at oslo.log's own levels, which an option of
// ours replaces as a whole.
func TestTextLogsAtLevelDebugLeaveTheLibrariesOut(t *testing.T) {
	g := NewWithT(t)
	levels := loggerLevels(&commonv1.LoggingSpec{Format: commonv1.LogFormatText, Level: commonv1.LogLevelDebug})
	g.Expect(levels).To(HaveLen(len(libraryLevels) + 1))
	g.Expect(levels).To(ContainElements("root=DEBUG", "sqlalchemy=WARNING"))
}

func TestTheHandlerOfJSONLogsIsThereWhereItIsNamed(t *testing.T) {
	for _, format := range []commonv1.LogFormat{commonv1.LogFormatText, commonv1.LogFormatJSON} {
		g := NewWithT(t)
		k := minimal()
		k.Spec.Logging.Format = format
		files, err := configFiles(cluster.Settings{}, k, keystoneOptions(cluster.Settings{}, k, false), nil)
		g.Expect(err).NotTo(HaveOccurred())
		_, there := files[logHandlerFile]
		g.Expect(there).To(Equal(format == commonv1.LogFormatJSON))
		g.Expect(strings.Contains(files["logging.conf"], "class = "+logHandler)).To(Equal(there))
	}
}
