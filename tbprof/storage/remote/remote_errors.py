"""What the errors of remote storages mean: try again, give credentials, or something else.

The backends of fsspec and the libraries below them share no base class, and translate each other's
errors. So errors are judged by their names and by their HTTP status, along the chain of causes.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from tbprof.base.errors import TbprofError, Unreachable

_EXTRAS = {
    "gs": "gcs", "gcs": "gcs", "s3": "s3", "s3a": "s3", "http": "http", "https": "http",
    "az": "azure", "abfs": "azure", "abfss": "azure",
}  # fmt: skip
# By extra, where a server's credentials come from.
_LOGIN_HINTS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, where tbprof runs; "
    "for a public bucket, FSSPEC_S3_ANON=true",
    "gcs": "run gcloud auth application-default login where tbprof runs, or set "
    "GOOGLE_APPLICATION_CREDENTIALS there",
    "azure": "set AZURE_STORAGE_CONNECTION_STRING where tbprof runs, or AZURE_STORAGE_ACCOUNT_NAME "
    "and AZURE_STORAGE_ACCOUNT_KEY",
    "http": "the server requires a login: copy the files here, or use a link that requires none",
}
_TRANSIENT_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_TRANSIENT_ERRNO = frozenset({errno.EBUSY, getattr(errno, "EREMOTEIO", errno.EIO)})
_TRANSIENT_NAMES = frozenset({
    "ClientConnectionError", "ClientPayloadError", "ConnectionError", "HTTPClientError",
    "IncompleteReadError", "IncompleteRead", "ProxyError", "ResponseStreamingError",
    "ServiceRequestError", "ServiceResponseError",
})  # fmt: skip
_LOGIN_STATUS = frozenset({401, 403})
_LOGIN_NAMES = frozenset({
    "ClientAuthenticationError", "CredentialRetrievalError", "CredentialUnavailableError",
    "DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError", "PermissionError",
    "ProfileNotFound", "RefreshError", "SSOError", "TokenRetrievalError",
})  # fmt: skip
# Texts of adlfs, gcsfs and Azure's server in errors without a specific type.
_LOGIN_TEXTS = ("Must provide either a connection_string", "Forbidden:", "AuthorizationFailure")
_STATUS = ("status", "status_code", "code")
_LONGEST_REASON = 200
_NETWORK_HINT = "check the address and the network where tbprof runs"


def is_missing(err: BaseException) -> bool:
    """Whether a storage has answered that there is nothing."""
    # fsspec raises this for every HTTP error; the cause has the status.
    return isinstance(err, FileNotFoundError) and not (_statuses(err) - {404, 410})


def is_transient(err: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    return (
        bool(_statuses(err) & _TRANSIENT_STATUS)
        or not _names(err).isdisjoint(_TRANSIENT_NAMES)
        or (isinstance(err, OSError) and err.errno in _TRANSIENT_ERRNO)
    )


def needs_login(err: BaseException) -> bool:
    """Whether a storage refuses these credentials, or there are none."""
    return (
        bool(_statuses(err) & _LOGIN_STATUS)
        or not _names(err).isdisjoint(_LOGIN_NAMES)
        or any(text in str(err) for text in _LOGIN_TEXTS)
    )


def not_installed(scheme: str, err: ImportError) -> Unreachable:
    """The package that reads URLs of this scheme cannot be imported."""
    extra = _EXTRAS.get(scheme)
    hint = f"pip install 'tbprof[{extra}]'" if extra else str(err)
    return Unreachable(f"the package that reads {scheme}:// is not installed", hint)


def storage_error(url: str, err: BaseException) -> OSError | TbprofError:
    """The error of a backend as one of ours; what does not exist stays FileNotFoundError.

    `url` is the address as the user may see it.
    """
    if isinstance(err, TbprofError):
        return err
    if is_missing(err):
        return FileNotFoundError(errno.ENOENT, "does not exist", url)
    if needs_login(err):
        hint = _LOGIN_HINTS.get(_EXTRAS.get(url.partition("://")[0], ""), "check the credentials")
        return Unreachable(f"{url} refuses access: {_reason(err)}", hint)
    if isinstance(err, TimeoutError) or "FSTimeoutError" in _names(err):
        return Unreachable(f"{url} does not respond in time", _NETWORK_HINT)
    return Unreachable(f"{url} does not respond: {_reason(err)}", _NETWORK_HINT)


def _reason(err: BaseException) -> str:
    """The first line of what the backend says, or of its cause where it says nothing."""
    message = next((str(cause) for cause in _chain(err) if str(cause).strip()), type(err).__name__)
    return message.strip().splitlines()[0][:_LONGEST_REASON].rstrip(".")


def _chain(err: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    seen: set[int] = set()
    cause: BaseException | None = err
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__


def _names(err: BaseException) -> set[str]:
    return {cls.__name__ for cause in _chain(err) for cls in type(cause).__mro__}


def _statuses(err: BaseException) -> set[int]:
    """The HTTP status of the error and of its causes, wherever its library puts it."""
    statuses: set[object] = set()
    for cause in _chain(err):
        response = getattr(cause, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        statuses.add(metadata.get("HTTPStatusCode"))
        statuses.add(next((getattr(cause, name) for name in _STATUS if hasattr(cause, name)), None))
    return {status for status in statuses if isinstance(status, int)}
