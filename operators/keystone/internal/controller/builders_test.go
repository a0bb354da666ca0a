package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// rendered returns the options and files of the configuration with the rules.
func rendered(t *testing.T, s *pass.Scope, rules map[string]string) (ini.File, map[string]string) {
	t.Helper()
	options, files, err := settings.Render(s, rules)
	if err != nil {
		t.Fatal(err)
	}
	return options, files
}

func optionsOf(t *testing.T, k *keystonev1alpha1.Keystone) ini.File {
	t.Helper()
	options, _ := rendered(t, fixture.Scope(k), nil)
	return options
}

func filesOf(t *testing.T, k *keystonev1alpha1.Keystone) map[string]string {
	t.Helper()
	_, files := rendered(t, fixture.Scope(k), nil)
	return files
}

// databaseTask is one of the schema tasks.
func databaseTask(s *pass.Scope, name string) deployment.Task {
	return keystoneSchema.Tasks(s.Pass)[name]
}

func jobOf(t *testing.T, s *pass.Scope, described deployment.Task) *batchv1.Job {
	t.Helper()
	built, err := deployment.TaskJob(s.Pass, described)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestBuiltObjectsMatchTheirGoldenFiles(t *testing.T) {
	for name, k := range map[string]*keystonev1alpha1.Keystone{"minimal": fixture.Minimal(), "managed": fixture.Managed()} {
		s := fixture.Scope(k)
		objects := map[string]any{
			"deployment":          api.Deployment(s),
			"service":             deployment.InstanceOf(s.Pass).Service(),
			"poddisruptionbudget": deployment.InstanceOf(s.Pass).DisruptionBudget(k.Spec.Replicas),
			"job-db-sync":         jobOf(t, s, databaseTask(s, schema.TaskSync)),
			"job-schema-check":    jobOf(t, s, databaseTask(s, schema.TaskCheck)),
			"job-bootstrap":       jobOf(t, s, bootstrapTask(s)),
			"job-config-check":    jobOf(t, s, settings.CheckTask(s)),
			"job-policy":          jobOf(t, s, policy.ValidationTask(s.Pass)),
			"cronjob-trust-flush": trustFlush.CronJob(s.Pass, flushes(s)),
			"networkpolicy":       networking.TrafficOf(s.Pass).API(),
			"networkpolicy-tasks": networking.TrafficOf(s.Pass).Tasks(pass.Definition.AllTasks(k.Name)),
		}
		if k.Spec.Database.IsManaged() {
			objects["database"], objects["grant"] = mariadb.Database(s.Pass), mariadb.Grant(s.Pass, k.Name)
			objects["user"], objects["certificate"] = mariadb.User(s.Pass, k.Name, ""), database.ClientCertificate(s.Pass)
			objects["httproute"] = networking.HTTPRoute(deployment.InstanceOf(s.Pass), k.Spec.Gateway, s.Path)
			objects["hpa"] = deployment.InstanceOf(s.Pass).Autoscaler(k.Spec.Autoscaling, k.Spec.Replicas)
		}
		for kind, obj := range objects {
			t.Run(name+"/"+kind, func(t *testing.T) {
				golden.CompareYAML(t, name+"/"+kind+".yaml", obj)
			})
		}
	}
}

func TestRenderedFilesMatchTheirGoldenFiles(t *testing.T) {
	rules := map[string]string{"identity:get_user": "role:admin"}
	for name, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		rules    map[string]string
	}{"minimal": {fixture.Minimal(), nil}, "managed": {fixture.Managed(), rules}} {
		_, files := rendered(t, fixture.Scope(test.keystone), test.rules)
		for file, content := range files {
			if strings.HasSuffix(file, ".py") && file != middlewareFile {
				continue // At most a line of it depends on the Keystone.
			}
			t.Run(name+"/"+file, func(t *testing.T) {
				golden.Compare(t, name+"/"+file, content)
			})
		}
	}
}

func TestNoJobPodIsSelectedAsAnAPIPod(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	selector := labels.SelectorFromSet(pass.Definition.SelectorLabels(s.Resource.Name))
	if !selector.Matches(labels.Set(pass.Definition.Labels(s.Resource.Name))) {
		t.Error("the API pods are not selected")
	}
	for _, component := range []string{"db-sync", "schema-check", "bootstrap", "policy-validation", "trust-flush"} {
		if selector.Matches(labels.Set(pass.Definition.TaskLabels(s.Resource.Name, component))) {
			t.Errorf("pods of %s are selected as API pods", component)
		}
	}
}

func TestPodSelectorMatchesAllPodsOfAKeystone(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	selector, err := metav1.LabelSelectorAsSelector(keystonev1alpha1.PodSelector())
	if err != nil {
		t.Fatal(err)
	}
	for name, pod := range map[string]map[string]string{
		"API":         api.Deployment(s).Spec.Template.Labels,
		"bootstrap":   jobOf(t, s, bootstrapTask(s)).Spec.Template.Labels,
		"trust flush": trustFlush.CronJob(s.Pass, flushes(s)).Spec.JobTemplate.Spec.Template.Labels,
	} {
		if !selector.Matches(labels.Set(pod)) {
			t.Errorf("%s: %s does not select %v", name, selector, pod)
		}
	}
	other := labels.Set{service.LabelName: "memcached", service.LabelInstance: s.Resource.Name}
	if selector.Matches(other) {
		t.Errorf("%s selects %v", selector, other)
	}
}

func TestSecretsAreOnlyInTheConnectionSecret(t *testing.T) {
	s := fixture.Scope(fixture.Managed())
	_, files := rendered(t, s, nil)
	shown := fmt.Sprint(files,
		api.Deployment(s), trustFlush.CronJob(s.Pass, flushes(s)),
		jobOf(t, s, databaseTask(s, schema.TaskSync)), jobOf(t, s, bootstrapTask(s)),
		database.CredentialsOf.Value(s.Slots), pass.AdminPassword.Value(s.Slots))
	for _, secret := range []string{"hunter2-db", "hunter2-admin"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q shows up outside the connection Secret", secret)
		}
	}
}

func TestADatabaseTaskRunsAgainOnlyForWhatItDependsOn(t *testing.T) {
	keyOf := func(change func(*pass.Scope)) string {
		s := fixture.Scope(fixture.Minimal())
		change(s)
		built, err := deployment.TaskJob(s.Pass, databaseTask(s, schema.TaskSync))
		if err != nil {
			t.Fatal(err)
		}
		return built.Annotations[job.RunKeyAnnotation]
	}
	base := keyOf(func(*pass.Scope) {})
	for name, change := range map[string]func(*pass.Scope){
		"another configuration": func(s *pass.Scope) {
			service.Config.Put(s.Slots, service.Rendered{ConfigMap: "keystone-config-76543210"})
		},
		"another password": func(s *pass.Scope) { database.Connection.Put(s.Slots, database.Proven(s.Pass, "url", "other")) },
		"other resources":  func(s *pass.Scope) { s.Resource.Spec.Resources = nil },
		"another priority": func(s *pass.Scope) { s.Resource.Spec.PriorityClassName = ptr.To("high") },
	} {
		if keyOf(change) != base {
			t.Errorf("%s runs db_sync again", name)
		}
	}
	for name, change := range map[string]func(*pass.Scope){
		"another image":    func(s *pass.Scope) { s.Resource.Spec.Image.Tag = "2026.1" },
		"another server":   func(s *pass.Scope) { s.Resource.Spec.Database.Host = "other" },
		"another database": func(s *pass.Scope) { s.Resource.Spec.Database.Database = "other" },
	} {
		if keyOf(change) == base {
			t.Errorf("%s does not run db_sync again", name)
		}
	}
}

func TestBootstrapRunsAgainWhenItsInputChanges(t *testing.T) {
	keyOf := func(change func(*pass.Scope)) string {
		s := fixture.Scope(fixture.Minimal())
		change(s)
		built, err := deployment.TaskJob(s.Pass, bootstrapTask(s))
		if err != nil {
			t.Fatal(err)
		}
		return built.Annotations[job.RunKeyAnnotation]
	}
	base := keyOf(func(*pass.Scope) {})
	for name, change := range map[string]func(*pass.Scope){
		"password":        func(s *pass.Scope) { pass.AdminPassword.Put(s.Slots, []byte("other")) },
		"public endpoint": func(s *pass.Scope) { s.Resource.Spec.Bootstrap.PublicEndpoint = "https://keystone.example.com/v3" },
		"region":          func(s *pass.Scope) { s.Resource.Spec.Bootstrap.Region = "RegionTwo" },
		"user":            func(s *pass.Scope) { s.Resource.Spec.Bootstrap.AdminUser = "root" },
	} {
		if keyOf(change) == base {
			t.Errorf("a changed %s does not run bootstrap again", name)
		}
	}
	if keyOf(func(s *pass.Scope) {
		service.Config.Put(s.Slots, service.Rendered{ConfigMap: "keystone-config-76543210"})
	}) != base {
		t.Error("another configuration runs bootstrap again")
	}
}

func TestFederationDeterminesTheAuthMethods(t *testing.T) {
	k := fixture.Minimal()
	for _, federation := range []*keystonev1alpha1.FederationSpec{nil, {}, {Enabled: true}} {
		k.Spec.Federation = federation
		on := federation != nil && federation.Enabled
		options := optionsOf(t, k)
		methods := strings.Split(options["auth"]["methods"], ",")
		for _, method := range []string{"mapped", "openid", "saml2"} {
			if slices.Contains(methods, method) != on {
				t.Errorf("with %+v the methods are %v", federation, methods)
			}
		}
		if slices.Contains(methods, "external") == on {
			t.Errorf("with %+v the methods are %v: external reads REMOTE_USER, as mapped does", federation, methods)
		}
		if _, set := options["federation"]["remote_id_attribute"]; set != on {
			t.Errorf("with %+v [federation] is %v", federation, options["federation"])
		}
	}
	k.Spec.ExtraConfig = map[string]map[string]string{"auth": {"methods": "password"}}
	if got := optionsOf(t, k)["auth"]["methods"]; got != "password" {
		t.Errorf("extraConfig asks for password alone and gets %s", got)
	}
}

func TestLoggingHealthyAcceptsEveryOsloSpellingOfTrue(t *testing.T) {
	for value, healthy := range map[string]bool{
		"true": true, "True": true, "YES": true, "1": true, "on": true, "false": false, "0": false, "": false, "maybe": false,
	} {
		s := fixture.Scope(fixture.Minimal())
		service.Config.Put(s.Slots, service.Rendered{Options: map[string]map[string]string{"DEFAULT": {"use_stderr": value}}})
		if got := serviceconfig.ReportLogging(t.Context(), s.Pass).IsDone(); got != healthy {
			t.Errorf("use_stderr = %q is healthy: %t, want %t", value, got, healthy)
		}
	}
}

func TestThePipelineIsValid(t *testing.T) {
	if err := pipeline.Validate(); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(pipeline.Conditions(), vocabulary.ConditionLoggingHealthy) {
		t.Error("LoggingHealthy counts for Ready")
	}
}

func TestEndpointsAndCacheServersUseTheClusterDomain(t *testing.T) {
	in, k := cluster.Settings{Domain: "k8s.example.com"}, fixture.Managed()
	if got := pass.InternalEndpoint(in, k); got != "http://keystone.openstack.svc.k8s.example.com:5000/v3" {
		t.Errorf("the endpoint is %q", got)
	}
	s := fixture.Scope(k)
	s.Cluster = in
	options, _ := rendered(t, s, nil)
	if got := options["cache"]["memcache_servers"]; got != "openstack-memcached.openstack.svc.k8s.example.com:11211" {
		t.Errorf("the cache is %q", got)
	}
	k.Spec.Gateway = nil
	if got := pass.PublicEndpoint(in, k); got != pass.InternalEndpoint(in, k) {
		t.Errorf("the public endpoint is %q", got)
	}
}
