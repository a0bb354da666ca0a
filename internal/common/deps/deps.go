package deps
import (
 _ "sigs.k8s.io/controller-runtime"
 _ "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
 _ "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
 _ "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
 _ "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
 _ "sigs.k8s.io/gateway-api/apis/v1"
 _ "github.com/robfig/cron/v3"
 _ "github.com/google/go-cmp/cmp"
 _ "github.com/onsi/gomega"
)
