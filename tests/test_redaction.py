import pytest

from understudy.redaction import redacted, redacted_command

COMMANDS = {
    "--api-key S3CR3T --seed 1": "--api-key *** --seed 1",
    "--api-key=S3CR3T --seed=1": "--api-key=*** --seed=1",
    "--TOKEN S3CR3T": "--TOKEN ***",
    "--api https://me:S3CR3T@host/api?x=1": "--api https://***@host/api?x=1",
    "--api=https://S3CR3T@host": "--api=https://***@host",
    "--api https://host/a?api_key=S3CR3T&x=1": "--api https://host/a?api_key=***&x=1",
    "--api https://h/?x=1;access_token=S3CR3T#y": "--api https://h/?x=1;access_token=***#y",
    "--keep 3 --from a@b --workers tcp://host:1": "--keep 3 --from a@b --workers tcp://host:1",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loses_its_secrets_and_nothing_else(command):
    assert " ".join(redacted_command(command.split())) == COMMANDS[command]


def test_settings_lose_theirs_at_any_depth():
    found = {"api": ["http://a:S3CR3T@h", {"b": ("ftp://S3CR3T@h", 7, None)}]}
    assert redacted(found) == {"api": ["http://***@h", {"b": ["ftp://***@h", 7, None]}]}
