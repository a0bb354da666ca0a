package database

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

type Database struct {
	Section string
	Key     func(ctx context.Context, p *service.Pass) (key types.UID, certain bool, err error)
}

func (d Database) EnsureManaged(ctx context.Context, p *service.Pass) reconcile.Outcome { panic("") }
func (d Database) FindKey(ctx context.Context, p *service.Pass) error                   { panic("") }
func (d Database) Promote(ctx context.Context, p *service.Pass) error                   { panic("") }
func (d Database) Hint(p *service.Pass, text string) string                             { panic("") }
func (d Database) Env(secret string) []corev1.EnvVar                                    { panic("") }
func TLSMounts(p *service.Pass) []deployment.Mount                                      { panic("") }
func Address(p *service.Pass) string                                                    { panic("") }

type Access struct{}

func (a *Access) TaskConnection() (secret, hash string) { return }
func (a *Access) Hash() string                          { return "" }
func (a *Access) Candidate() bool                       { return false }
func (a *Access) Proof() string                         { return "" }

var Connection = reconcile.NewSlot[*Access]("DatabaseConnection")

func ConnectionInUse(ctx context.Context, p *service.Pass) (string, error) { panic("") }

const ConnectionHashAnnotation = ""
