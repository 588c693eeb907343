"""A client of services that speak the HTTP API of OpenAI: JSON is posted, and JSON comes back.

Nothing is sent anywhere unless the user names an address. Redirects are not followed, so that texts and the key reach
no other address.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..engine.checks import check_number
from ..errors import InputError, ServiceError

__all__ = ["Endpoint"]

_KEY_VARIABLE = "TOPICFOLD_API_KEY"
_BUSY = frozenset((429, 500, 502, 503, 504))  # the same request may succeed later
_TRIES = 5
_LONGEST_WAIT = 60.0  # seconds
_MOST_BYTES = 1 << 28  # of an answer
_SHOWN = 160  # characters of what a service says


class Endpoint:
    """The address of a service with the HTTP API of OpenAI, the model to use there, and how to call it.

    Such services are, among others, Ollama, llama.cpp, vLLM and LM Studio on your own machine, and many on the
    internet. A busy service (429, 5xx) is asked again up to four times, after 1, 2, 4 and 8 seconds, or after as long
    as it says.

    Parameters
    ----------
    url : str
        The address, such as 'http://localhost:11434/v1'.
    model : str, default=''
        Name of the model, as the service calls it; some services have only one.
    api_key : str or None, default=None
        Key of the service. None takes the environment variable TOPICFOLD_API_KEY, if it is set. It is sent to this
        address only, and written nowhere.
    timeout : float, default=120.0
        Seconds to wait for an answer.

    See Also
    --------
    embed : Vectors of texts, also by an endpoint.

    Examples
    --------
    >>> from topicfold import Endpoint
    >>> Endpoint("http://localhost:11434/v1", "nomic-embed-text")
    Endpoint('http://localhost:11434/v1', 'nomic-embed-text')
    """

    def __init__(self, url: str, model: str = "", *, api_key: str | None = None, timeout: float = 120.0) -> None:
        if not isinstance(url, str) or not isinstance(model, str):
            raise InputError(f"Endpoint({url!r:.60}, {model!r:.60}): expected an address and the name of a model")
        try:
            parts = urlsplit(url)
            complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number, brackets that do not match
            complete = False
        if not complete or any(ord(letter) <= 32 or ord(letter) > 126 for letter in url):
            raise InputError(f"{url!r:.60} is no address: expected one such as http://localhost:11434/v1")
        check_number("timeout", timeout, above=True)
        self.url, self.model, self.timeout = url.rstrip("/"), model, timeout
        self._key = os.environ.get(_KEY_VARIABLE) if api_key is None else api_key
        if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
            raise InputError(f"the API key has characters that a key cannot have: check {_KEY_VARIABLE}")
        self._ask = urllib.request.build_opener(_NoRedirects).open

    @classmethod
    def from_address(cls, address: str) -> Endpoint:
        """Read an address with the name of the model after '#', as on the command line.

        Parameters
        ----------
        address : str
            Such as 'http://localhost:11434/v1#nomic-embed-text'.

        Returns
        -------
        Endpoint
            The endpoint.
        """
        url, _, model = address.partition("#")
        return cls(url, model)

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"  # without the key

    def post(self, method: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Post JSON to a method of the service.

        Parameters
        ----------
        method : str
            What follows the address, such as 'embeddings'.
        body : mapping
            What to post; the name of the model is added.

        Returns
        -------
        dict
            The answer.

        Raises
        ------
        ServiceError
            If the service cannot be reached, refuses, stays busy, or does not answer with JSON.
        """
        url = self.url if self.url.endswith(f"/{method}") else f"{self.url}/{method}"
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "topicfold"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        named = {"model": self.model, **body} if self.model else dict(body)
        request = urllib.request.Request(url, json.dumps(named).encode(), headers)
        answer = self._answered(request)
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError):  # not JSON or not UTF-8, or nested too deeply
            raise ServiceError(f"{url} did not answer with JSON: is it the address of such a service?") from None
        if not isinstance(value, dict):
            raise ServiceError(f"{url} answered with a {type(value).__name__}: expected an object of JSON")
        return value

    def _answered(self, request: urllib.request.Request) -> bytes:
        """The answer to a request, which is repeated while the service is busy."""
        for trial in range(_TRIES):
            last = trial == _TRIES - 1
            try:
                with self._ask(request, timeout=self.timeout) as response:
                    return _whole(response, request.full_url)
            except urllib.error.HTTPError as error:
                with error:
                    if error.code not in _BUSY or last:
                        raise ServiceError(_refused(request.full_url, error, trial + 1)) from None
                    wait = _wait(error.headers.get("Retry-After"), trial)
            except (http.client.HTTPException, ConnectionResetError) as error:  # the answer broke off
                if last:
                    raise ServiceError(f"{request.full_url} broke off {_TRIES} times: {error!r:.80}") from None
                wait = _wait(None, trial)
            except TimeoutError:
                raise ServiceError(f"{request.full_url} did not answer within {self.timeout:g} seconds") from None
            except OSError as error:  # no such host, nothing that listens, a certificate that is not valid
                raise ServiceError(self._unreachable(request.full_url, error)) from None
            time.sleep(wait)
        raise AssertionError  # the last trial has returned or raised

    def _unreachable(self, url: str, error: OSError) -> str:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            return f"{url} did not answer within {self.timeout:g} seconds"
        return f"{url} cannot be reached: {' '.join(str(reason).split())[:_SHOWN]}; is the service running?"


def _whole(response: Any, url: str) -> bytes:
    """The bytes of an answer, which may end too early."""
    answer: bytes = response.read(_MOST_BYTES + 1)
    if len(answer) > _MOST_BYTES:
        raise ServiceError(f"{url} answered with more than {_MOST_BYTES >> 20} MB")
    if response.length:  # bytes that it announced
        raise http.client.IncompleteRead(answer, response.length)
    return answer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None makes a redirect an error."""


def _wait(retry_after: str | None, trial: int) -> float:
    """Seconds to wait before the next trial: as the service says, or twice as long each time."""
    said = retry_after or ""
    return min(float(said) if said.isascii() and said.isdecimal() else 2.0**trial, _LONGEST_WAIT)


def _refused(url: str, error: urllib.error.HTTPError, trials: int) -> str:
    """What an error of a service says, in one line."""
    try:
        said = " ".join(error.read(4096).decode("utf-8", "replace").split())[:_SHOWN]
    except (OSError, http.client.HTTPException):  # the answer broke off
        said = ""
    if error.code in _BUSY:
        advice = f"{trials} times; try again later"
    elif error.code in (401, 403):
        advice = f"set the key of the service in {_KEY_VARIABLE}"
    else:
        advice = "check the address and the name of the model"
    return f"{url} answered {error.code} {error.reason}: {advice}" + (f" ({said})" if said else "")
