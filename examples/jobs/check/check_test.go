// Package check holds the files of examples/jobs against those that read them: the types of Kubernetes, and
// actionlint for GitHub Actions. It is a module of its own, because the program links nothing of that.
package check

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func mustRead(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// job decodes a Job, in which no field may be that Kubernetes does not know.
func job(text string) (*batch.Job, error) {
	j := new(batch.Job)
	return j, yaml.UnmarshalStrict([]byte(text), j)
}

func TestTheJobIsOneOfKubernetes(t *testing.T) {
	text := mustRead(t, "kubernetes.yaml")
	j, err := job(text)
	if err != nil {
		t.Fatal(err)
	}
	if j.APIVersion != batch.SchemeGroupVersion.String() || j.Kind != "Job" || *j.Spec.CompletionMode != batch.IndexedCompletion {
		t.Errorf("it is %s %s, %s", j.APIVersion, j.Kind, *j.Spec.CompletionMode)
	}
	for _, field := range []string{"completionMode", "onExitCodes", "claimName", "defaultMode"} {
		if _, err := job(strings.ReplaceAll(text, field, field+"s")); err == nil {
			t.Errorf("%ss is taken too", field)
		}
	}
}

// What the API server asks for, and its types do not say.
func TestTheJobIsWhole(t *testing.T) {
	j, err := job(mustRead(t, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pod := j.Spec.Template.Spec
	container := pod.Containers[0]
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range container.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("no volume %s for %s", m.Name, m.MountPath)
		}
	}
	if j.Spec.PodFailurePolicy != nil && pod.RestartPolicy != "Never" {
		t.Errorf("a policy for pods that fail goes with restartPolicy Never, not %s", pod.RestartPolicy)
	}
	for _, rule := range j.Spec.PodFailurePolicy.Rules {
		if codes := rule.OnExitCodes; codes != nil && *codes.ContainerName != container.Name {
			t.Errorf("no container %s", *codes.ContainerName)
		}
	}
	for _, e := range container.Env { // who may read pods may read these
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil || strings.Contains(e.Name, "KEY") {
			t.Errorf("a secret is in the variable %s", e.Name)
		}
	}
}

func TestTheLinesOfShellOfTheJobAreClean(t *testing.T) {
	j, err := job(mustRead(t, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	command := j.Spec.Template.Spec.Containers[0].Command
	if len(command) != 3 || command[0] != "sh" || !strings.Contains(command[2], "one.sh -n \"$JOB_COMPLETION_INDEX\"") {
		t.Fatalf("the command is %q", command)
	}
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("there is no shellcheck")
	}
	check := exec.Command(shellcheck, "--shell=sh", "-")
	check.Stdin = strings.NewReader(command[2])
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// lint returns what actionlint finds wrong with a workflow, its lines of shell among it where shellcheck is there.
func lint(t *testing.T, text string) []*actionlint.Error {
	t.Helper()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Log("without shellcheck the lines of shell are not looked at")
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: shellcheck})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint("actions.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheWorkflowIsOneOfActions(t *testing.T) {
	text := mustRead(t, "actions.yaml")
	for _, e := range lint(t, text) {
		t.Error(e)
	}
	for right, wrong := range map[string]string{
		"runs-on: ubuntu-latest":             "run-on: ubuntu-latest",
		"needs.count.outputs.indexes":        "needs.count.outputs.numbers",
		"fail-fast: false":                   "fail-fast: sometimes",
		"secrets.ANTHROPIC_API_KEY":          "secret.ANTHROPIC_API_KEY",
		"persist-credentials: false":         "keep-credentials: false",
		"if: always()\n    runs-on: ubuntu-": "if: allways()\n    runs-on: ubuntu-",
	} {
		if len(lint(t, strings.Replace(text, right, wrong, 1))) == 0 {
			t.Errorf("%q is taken too", wrong)
		}
	}
}
