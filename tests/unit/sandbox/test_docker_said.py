"""What becomes of an engine that ends while it is spoken to: a sentence, whichever library notices."""

from __future__ import annotations

import pytest

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.sandbox.gpu import Gpu

docker = pytest.importorskip("docker", reason="the package docker is not installed")
requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")


@pytest.mark.parametrize(
    "error",
    [
        docker.errors.APIError("the engine failed"),
        requests.ConnectionError("refused"),
        urllib3.exceptions.ProtocolError("Connection broken: IncompleteRead(0 bytes read)"),
        ConnectionResetError(104, "Connection reset by peer"),
        BrokenPipeError(32, "Broken pipe"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_engine_that_ends_is_told_in_a_sentence(error):
    from resources.docker_engine import spoken

    said = "the Docker engine could not run the container"
    with pytest.raises(SandboxUnavailable, match=said), spoken("run the container"):
        raise error


def test_cards_are_named_by_what_no_order_of_counting_changes(monkeypatch):
    from resources import docker_options

    cards = {0: Gpu(0, "A", "GPU-a"), 3: Gpu(3, "B", "")}
    monkeypatch.setattr(docker_options, "chosen_gpus", lambda numbers: [cards[n] for n in numbers])
    assert docker_options._cards((3, 0))["DeviceIDs"] == ["3", "GPU-a"]


def test_an_error_of_this_host_is_no_word_of_the_engine():
    from resources.docker_engine import spoken

    with pytest.raises(OSError, match="No space"), spoken("run the container"):
        raise OSError(28, "No space left on device")
