"""All kinds of attacks, by name. A new verb, file or page adds its own here."""

from understudy.trust.attacks import (
    agents,
    answers,
    cases,
    clusters,
    disks,
    kills,
    logs,
    machine,
    requests,
    verbs,
)
from understudy.trust.campaign import Kind

KINDS: dict[str, Kind] = {
    "damaged files": cases.damaged_file,
    "files read": cases.read_files,
    **kills.kinds(),
    "clusters": clusters.killed,
    "full disks": disks.full,
    "disks mounted": disks.mounted,
    "two writers": cases.two_writers,
    "names": cases.hostile_name,
    "permissions": machine.permission,
    "clocks": machine.clock,
    "limits": machine.limit,
    "damage under a verb": verbs.damaged_for_verb,
    "damaged logs": logs.damaged_logs,
    "answers": answers.hostile_answer,
    "requests": requests.hostile_requests,
    **agents.kinds(),
}
