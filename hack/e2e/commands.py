#!/usr/bin/env python3
"""Runs the commands of documentation pages on a cluster, as a reader would.

Usage: commands.py PAGE...
Environment: KUBECONFIG, NAMESPACE, BIN (kubectl, kubectl-forge and helm).

The shell blocks of a page run in one shell, in a folder that looks like the
checkout. A command that would change the cluster is sent as a dry run, which the
API server validates, including admission, but does not execute; a few harmless
changes are executed. A wait for what a dry run would have changed only gets the
object. Placeholders are replaced by existing objects:

    NAMESPACE, NAME    in a runbook, an object of the kind that its alert is about, in $NAMESPACE

Blocks that cannot run on the cluster of this checkout are marked "sh elsewhere".
The exit codes of the programs below decide; a filter behind them may find nothing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>\S.*)?$")
# The values that a reader would insert, by the prefix of a runbook's name: the first that fits.
TARGETS = {
    "KeystoneIdentityBackend": "staff",
    "CredentialRotation": "rotate-monthly", "SecretAggregate": "for-the-dashboard",
    "ControlPlane": "controlplane", "Keystone": "keystone", "Placement": "controlplane-placement",
    "Barbican": "barbican", "Glance": "glance", "Horizon": "horizon",
}
# Flags of kubectl and helm that take their value from the next word.
VALUED = {
    "-n", "--namespace", "-o", "--output", "-l", "--selector", "-p", "--patch", "-f", "--filename", "-c", "--container",
    "--set", "--values", "--type", "--image", "--tail",
}
DRY_RUN = "--dry-run=server"
WRITING = {"annotate", "apply", "create", "delete", "label", "patch", "run", "scale"}
# Failures which only mean that there is nothing to show or to create.
NOTHING = re.compile(r"previous terminated container .* not found|already exists$", re.MULTILINE)
# kubectl forge: something is not ready, or must not be done now.
TOLD = {3}
# The environment of an OpenStack client and of the secret store's client.
PODS = {
    "openstack": ["--namespace=openstack", "exec", "deployment/openstack-client", "--", "openstack"],
    "bao": ["--namespace=openbao-system", "exec", "--stdin", "openbao-0", "--", "bao"],
}
# Background processes of a block end with it: job control puts each into a separate
# process group.
END_OF_BLOCK = 'for job in $(jobs -p); do kill -- "-$job" 2>/dev/null; done; wait\n'
PROGRAMS = ["kubectl", "helm", "make", "curl", *PODS]


def blocks(text):
    """Yields the line, the info string and the lines of each fenced block."""
    start, info, indent, inside = 0, "", "", []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if start == 0 and fence and fence["info"]:
            start, info, indent, inside = number, fence["info"], fence["indent"], []
        elif start and fence and not fence["info"]:
            yield start, info, "".join(inside)
            start = 0
        elif start:
            inside.append(line.removeprefix(indent) + "\n")


def filled(page, script):
    """Replaces the placeholders of a page by names."""
    if not re.search(r"\bNAMESPACE\b", script):
        return script
    name = next((name for alert, name in TARGETS.items() if pathlib.Path(page).name.startswith(alert)), None)
    if name is None:
        sys.exit(f"{page} has a placeholder, but no object in TARGETS: add the kind that it is about")
    script = re.sub(r"\bNAMESPACE\b", os.environ["NAMESPACE"], script)
    return re.sub(r"\bNAME\b", name, script)


def script_of(page, text):
    """Returns the shell script of a page; empty if the page has no commands."""
    parts = []
    for line, info, script in blocks(text):
        if info == "sh":
            parts.append(f"export COMMANDS_AT={page}:{line}\n{filled(page, script)}{END_OF_BLOCK}")
    return "".join(parts)


def values_of(text):
    """Returns the files of values that the commands of a page name, with their content on the page."""
    names = re.findall(r"--values[ =](\S+)", text)
    contents = [content for _, info, content in blocks(text) if info.startswith("yaml values=")]
    return {name: contents[0] for name in names if contents}


def verb_of(args):
    """Returns the first word that is neither a flag nor a flag's value."""
    i = 0
    while i < len(args):
        if args[i] in VALUED:
            i += 1
        elif not args[i].startswith("-"):
            return args[i]
        i += 1
    return ""


def without(args, *flags):
    """Returns the arguments without some flags, up to those of another program."""
    end = args.index("--") if "--" in args else len(args)
    return [arg for arg in args[:end] if arg not in flags] + args[end:]


def forge(args):
    """Returns the arguments for kubectl forge."""
    verb = verb_of(args)
    if verb == "upgrade" and "--abort" not in args:
        return without(args, "--preflight") + ["--preflight"]
    if verb == "support-bundle":
        return args + ["--file", os.path.join(os.environ.get("TMPDIR", "/tmp"), "bundle.tar.gz")]
    return args


def rewritten(program, args, changed=True):
    """Returns the command to run instead of one of a page, or None to skip it.

    Targets of make would run for hours, so they are skipped; other tests check that they exist.
    changed is False after a dry run in the same block.
    """
    if program == "make":
        return None
    if program == "curl":
        return ["curl", "--silent", "--show-error", "--output", "/dev/null", "--retry", "20", "--retry-connrefused",
                "--retry-delay", "1", *args]
    if program in PODS:
        return ["kubectl", *PODS[program], *args]
    verb = verb_of(args)
    if program == "helm":
        kept = without(args, "--wait", "--create-namespace", "--install", "--reuse-values")
        if verb in ("install", "upgrade"):
            kept[kept.index(verb)] = "template"
        return ["helm", *kept]
    if verb == "forge":
        return ["kubectl-forge", *forge(args[args.index("forge") + 1:])]
    if verb in WRITING:
        end = args.index("--") if "--" in args else len(args)
        return ["kubectl", *without(args[:end], "--rm", "-it"), DRY_RUN, *args[end:]]
    if verb == "wait" and not changed:
        kept = [arg for arg in args if not arg.startswith(("--for", "--timeout"))]
        kept[kept.index(verb)] = "get"
        return ["kubectl", *kept]
    # There is no terminal, and a watch would never end.
    kept = without(args, "-it", "--watch")
    if verb == "exec":
        kept.insert(kept.index("exec") + 1, "--stdin")
    return ["kubectl", *kept]


def notes_of(path):
    """Returns the records of the commands that have run."""
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def stand_in(program, args):
    """Runs a command in place of a program, and records its exit code."""
    at = os.environ["COMMANDS_AT"]
    changed = not any(note["at"] == at and DRY_RUN in note["run"] for note in notes_of(os.environ["COMMANDS_NOTES"]))
    command = rewritten(program, args, changed)
    if command is None:
        return 0
    result = subprocess.run([shutil.which(command[0], path=os.environ["COMMANDS_PATH"]), *command[1:]],
                            stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    sys.stderr.write(result.stderr)
    fine = result.returncode == 0 or NOTHING.search(result.stderr)
    # Background processes end with SIGTERM.
    fine = fine or result.returncode == -15 or (command[0] == "kubectl-forge" and result.returncode in TOLD)
    with open(os.environ["COMMANDS_NOTES"], "a", encoding="utf-8") as notes:
        notes.write(json.dumps({"at": at, "said": " ".join([program, *args]), "run": " ".join(command),
                                "code": result.returncode, "fine": bool(fine), "error": result.stderr[-400:]}) + "\n")
    return result.returncode


def run(page, folder):
    """Runs a page's commands and returns the record of each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    script = script_of(page, text)
    for name, content in values_of(text).items():
        (folder / name).write_text(content, encoding="utf-8")
    notes = folder / "notes"
    notes.write_text("", encoding="utf-8")
    functions = "".join(f'{program}() {{ "{folder}/stand-ins/{program}" "$@"; }}\n' for program in PROGRAMS)
    environment = {**os.environ, "COMMANDS_NOTES": str(notes), "TMPDIR": str(folder), "HOME": str(folder / "home"),
                   "COMMANDS_PATH": f"{os.environ['BIN']}:{os.environ['PATH']}"}
    (folder / "script").write_text(f"set -m\n{functions}{script}touch {folder}/end\n", encoding="utf-8")
    shell = subprocess.run(["bash", "-uo", "pipefail", folder / "script"], cwd=folder, env=environment,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    noted = notes_of(notes)
    if not (folder / "end").exists():
        noted.append({"at": page, "said": "the rest of the page", "run": "nothing", "code": shell.returncode, "fine": False,
                      "error": shell.stderr[-400:]})
    return noted


def prepare(folder):
    """Makes the folder look like the checkout, with stand-ins for the programs."""
    for entry in ROOT.iterdir():
        if entry.name != "kubeconfig":
            (folder / entry.name).symlink_to(entry)
    (folder / "kubeconfig").symlink_to(pathlib.Path(os.environ["KUBECONFIG"]).resolve())
    # The home folder of a reader, with a login to a registry.
    (folder / "home" / ".docker").mkdir(parents=True)
    (folder / "home" / ".docker" / "config.json").write_text('{"auths": {}}', encoding="utf-8")
    (folder / "stand-ins").mkdir()
    for program in PROGRAMS:
        (folder / "stand-ins" / program).symlink_to(pathlib.Path(__file__).resolve())


def main(pages):
    noted = []
    for page in pages:
        with tempfile.TemporaryDirectory() as name:
            prepare(pathlib.Path(name))
            noted += run(page, pathlib.Path(name))
    failed = [note for note in noted if not note["fine"]]
    for note in failed:
        print(f"{note['at']}: {note['said']}\n  ran as: {note['run']}\n  exit code {note['code']}: {note['error'].strip()}")
    print(f"{len(noted)} commands of {len(pages)} pages, {len(failed)} failed")
    return 1 if failed or not noted else 0


if __name__ == "__main__":
    called = pathlib.Path(sys.argv[0]).name
    sys.exit(stand_in(called, sys.argv[1:]) if called in PROGRAMS else main(sys.argv[1:]))
