package controller

import (
	"testing"

	. "github.com/onsi/gomega"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestJSONLogsFollowTheLevelOfEachLogger(t *testing.T) {
	g := NewWithT(t)
	file := jsonLogging(&keystonev1alpha1.LoggingSpec{
		Format: keystonev1alpha1.LogFormatJSON, Level: keystonev1alpha1.LogLevelError,
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
	logging := &keystonev1alpha1.LoggingSpec{Format: keystonev1alpha1.LogFormatJSON, Level: keystonev1alpha1.LogLevelDebug}
	levels := map[string]string{}
	for _, section := range jsonLogging(logging) {
		if section["qualname"] != "" {
			levels[section["qualname"]] = section["level"]
		}
	}
	g.Expect(levels).To(Equal(libraryLevels))
	logging.Level = keystonev1alpha1.LogLevelInfo
	g.Expect(jsonLogging(logging)["loggers"]).To(HaveKeyWithValue("keys", "root"))
}
