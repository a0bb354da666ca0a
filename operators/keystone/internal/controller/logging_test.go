package controller

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/config"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheHandlerOfJSONLogsIsThereWhereItIsNamed(t *testing.T) {
	for _, format := range []commonv1.LogFormat{commonv1.LogFormatText, commonv1.LogFormatJSON} {
		g := NewWithT(t)
		k := minimal()
		k.Spec.Logging.Format = format
		files, err := configFiles(cluster.Settings{}, k, keystoneOptions(cluster.Settings{}, k, false), nil)
		g.Expect(err).NotTo(HaveOccurred())
		_, there := files[config.LogHandlerFile]
		g.Expect(there).To(Equal(format == commonv1.LogFormatJSON))
		g.Expect(strings.Contains(files[config.LoggingFile], "class = forge_log.LineStreamHandler")).To(Equal(there))
	}
}
