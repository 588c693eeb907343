"""Endpoint: what is sent to a service, and what is said where the service does not do its part."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from topicfold import Endpoint, InputError, ServiceError, embed
from topicfold.analysis import embedding, endpoint

GOOD = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0.5]}]  # a service may change the order


@pytest.fixture
def service(monkeypatch):
    """A service on this machine: it gives the prepared answers in turn, and keeps what it was asked."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(endpoint.time, "sleep", lambda seconds: server.waits.append(seconds))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.asked.append((self.path, dict(self.headers), json.loads(body)))
            code, headers, answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.waits, server.answers = [], [], []
    server.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_texts_are_posted_and_vectors_come_back_in_order(service, monkeypatch):
    monkeypatch.setenv("TOPICFOLD_API_KEY", "secret")
    service.answers = [(200, {}, {"data": GOOD})]
    assert embed(["a", "", "b"], f"{service.url}#tiny").tolist() == [[1, 0.5], [0, 0], [0, 2]]
    path, headers, body = service.asked[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["input"]) == ("tiny", ["a", "b"])
    other = Endpoint(f"{service.url}/embeddings", api_key="")
    assert embed(["a", "b"], other).shape == (2, 2)
    path, headers, body = service.asked[1]
    assert path == "/v1/embeddings"
    assert "Authorization" not in headers
    assert "model" not in body
    assert "secret" not in repr(other) + repr(vars(Endpoint(service.url)).get("url"))


def test_texts_are_sent_in_parts(service, monkeypatch):
    monkeypatch.setattr(embedding, "_PER_REQUEST", 1)
    service.answers = [(200, {}, {"data": [{"embedding": [number]}]}) for number in (1, 2)]
    assert embed(["a", "b"], service.url).tolist() == [[1], [2]]
    assert [body["input"] for *_, body in service.asked] == [["a"], ["b"]]


def test_vectors_of_a_service_are_cached(service, tmp_path):
    service.answers = [(200, {}, {"data": GOOD}), (200, {}, {"data": [{"embedding": [3, 3]}]})]
    embed(["a", "b"], f"{service.url}#tiny", cache=tmp_path)
    same = embed(["b", "c", "a"], Endpoint(service.url, "tiny"), cache=tmp_path)
    assert same.tolist() == [[0, 2], [3, 3], [1, 0.5]]
    assert [body["input"] for *_, body in service.asked] == [["a", "b"], ["c"]]


def test_a_busy_service_is_asked_again(service):
    service.answers = [(503, {}, b"later"), (429, {"Retry-After": "7"}, b""), (200, {}, {"data": GOOD})]
    assert embed(["a", "b"], service.url).shape == (2, 2)
    assert service.waits == [1, 7]
    service.answers = [(429, {"Retry-After": "9999"}, b"slow\ndown")]
    with pytest.raises(ServiceError, match=r"answered 429 .*: 5 times; try again later \(slow down\)$"):
        embed(["a", "b"], service.url)
    assert service.waits[2:] == [60] * 4


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            (401, {}, b'{"error": "no\\nkey"}'),
            r"answered 401 Unauthorized: set the key of the service in TOPICFOLD_API_KEY",
        ),
        ((404, {}, b"model?"), r"answered 404 Not Found: check the address and the name of the model \(model\?\)"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "answered 302 Found"),
        ((200, {}, b"<html>"), "did not answer with JSON"),
        ((200, {}, b"[" * 100_000), "did not answer with JSON"),
        ((200, {}, [1]), "answered with a list: expected an object"),
        ((200, {}, {"vectors": []}), "expected an object with 'data'"),
        ((200, {}, {"data": [{"embedding": [1]}]}), "it has 1 for 2 texts"),
        ((200, {}, {"data": [{"index": 0, "embedding": [1]}] * 2}), "the values of 'index' are not 0 to 1"),
        ((200, {}, {"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}), "did not return a matrix of numbers"),
        ((200, {}, {"data": [{"embedding": ["x"]}, {"embedding": ["y"]}]}), "did not return a matrix of numbers"),
        ((200, {}, {"data": [{"embedding": []}, {"embedding": []}]}), r"an array of shape \(2, 0\) for 2 texts"),
        ((200, {}, b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}'), "NaN or infinite numbers"),
        ((200, {"Content-Length": "99"}, b"{}"), "broke off 5 times"),
    ],
)
def test_answers_that_cannot_be_used_are_one_line(service, answer, said):
    service.answers = [answer]
    with pytest.raises(ServiceError, match=said) as error:
        embed(["a", "b"], service.url)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(service.url)


def test_vectors_of_another_length_than_before(service, tmp_path):
    service.answers = [(200, {}, {"data": GOOD}), (200, {}, {"data": [{"embedding": [3]}]})]
    embed(["a", "b"], service.url, cache=tmp_path)
    with pytest.raises(InputError, match="vectors of length 2 and 1: expected one length"):
        embed(["c"], service.url, cache=tmp_path)


def test_too_long_an_answer(service, monkeypatch):
    monkeypatch.setattr(endpoint, "_MOST_BYTES", 5)
    service.answers = [(200, {}, b"123456")]
    with pytest.raises(ServiceError, match="more than 0 MB"):
        embed(["a"], service.url)


def test_nothing_listens_and_nothing_answers(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ServiceError, match=r"cannot be reached: .*refused.*; is the service running\?"):
            embed(["a"], url)
        taken.listen()
        with pytest.raises(ServiceError, match=r"did not answer within 0\.05 seconds"):
            embed(["a"], Endpoint(url, timeout=0.05))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Endpoint("localhost:11434"), "is no address"),
        (lambda: Endpoint("ftp://host/v1"), "is no address"),
        (lambda: Endpoint("http://"), "is no address"),
        (lambda: Endpoint("http://host:port/"), "is no address"),
        (lambda: Endpoint("http://[::1/"), "is no address"),
        (lambda: Endpoint("http://host/a b"), "is no address"),
        (lambda: Endpoint(5), "expected an address"),
        (lambda: Endpoint("http://host", timeout=0), "timeout=0: expected a number above zero"),
        (lambda: Endpoint("http://host", api_key="a\nb"), "the API key has characters"),
    ],
)
def test_what_is_no_endpoint(make, said):
    with pytest.raises(InputError, match=said) as error:
        make()
    assert "a\nb" not in str(error.value)


def test_numbers_are_what_json_says(service):
    service.answers = [(200, {}, {"data": [{"embedding": [1e-3, -2]}]})]
    assert np.allclose(embed(["a"], service.url), [[1e-3, -2]])
