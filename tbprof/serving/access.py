"""Access control of a server that other machines can reach: by its token.

As in Jupyter, a browser sends the token once, in the address or in the form of our page, and then
keeps it in a cookie. A script sends it with each request.
"""

from __future__ import annotations

import hmac
import secrets
from html import escape
from urllib.parse import quote, urlencode

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from tbprof.base.addresses import is_loopback
from tbprof.base.errors import BadRequest, TbprofError
from tbprof.serving.responses import HTML, Reply, error_reply, response

# The token of `tbprof serve`: unlike an option, other users of the machine cannot see it.
TOKEN = "TBPROF_TOKEN"  # noqa: S105 - the name of the variable
_NAME = "token"
_FEWEST = 8  # characters: shorter ones can be guessed
_MOST_BYTES = 4096
_CSP = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>tbprof</title>
<h1>This server needs a token</h1>
<p>{message}: {hint}.
<form method="post">
<p><label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
<button>Open</button>
</form>
</html>
"""  # noqa: E501
_ENTERED = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={target}">
<title>tbprof</title>
<p><a href="{target}">Open tbprof</a>
</html>
"""


class TokenRequired(TbprofError):
    """The request has no token, or a wrong one."""

    code = "token_required"
    status = 403


def choose_token(host: str, given: str) -> str:
    """The token of a server that listens on `host`: the given one, "" if it needs none.

    Raises BadRequest if it can be guessed, or cannot be part of a header.
    """
    if given and len(given) < _FEWEST:
        raise BadRequest(
            f"a token of {len(given)} characters can be guessed",
            f"choose one of at least {_FEWEST} characters, or none: then it is made up",
        )
    if not all("!" <= letter <= "~" for letter in given):
        raise BadRequest("a token consists of ASCII characters other than spaces")
    return given or ("" if is_loopback(host) else secrets.token_urlsafe(24))


def with_token(address: str, token: str) -> str:
    """The address that opens the pages of a server with this token."""
    return f"{address}?{urlencode({_NAME: token})}" if token else address


class Access:
    """Accepts requests that have the token, or all requests if it is empty."""

    def __init__(self, token: str) -> None:
        self._token = token

    def answer(self, request: Request) -> Response | None:
        """The response to a request that is not allowed or that enters the token, else None."""
        if not self._token:
            return None
        if _wants_page(request) and self._is_right(request.args.get(_NAME)):
            return self._entered(request, _refreshed(request))
        if request.method == "POST" and self._is_right(_form(request)):
            return self._entered(request, _redirected(request))
        if any(self._is_right(token) for token in _shown(request)):
            return None
        return _refused(request)

    def _is_right(self, token: str | None) -> bool:
        given = (token or "").encode("utf-8", "replace")
        return hmac.compare_digest(given, self._token.encode())

    def _entered(self, request: Request, answer: Response) -> Response:
        answer.set_cookie(_cookie(request), self._token, httponly=True, samesite="Strict")
        return answer


def _shown(request: Request) -> list[str]:
    """The tokens in the request."""
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    bearer = credentials.strip() if scheme.lower() == "bearer" else ""
    return [request.cookies.get(_cookie(request), ""), bearer, request.args.get(_NAME, "")]


def _cookie(request: Request) -> str:
    """The name of the cookie: servers on other ports of the machine have cookies of their own."""
    return f"tbprof_{request.environ.get('SERVER_PORT', '')}"


def _form(request: Request) -> str:
    """The token in our page's form, "" if the request is not that form."""
    if request.mimetype != "application/x-www-form-urlencoded":
        return ""
    request.max_content_length = _MOST_BYTES
    try:
        return request.form.get(_NAME, "")
    except RequestEntityTooLarge:
        return ""


def _refused(request: Request) -> Response:
    error = TokenRequired(
        "the token is missing or wrong",
        "open the link that tbprof printed when the server was started, or enter its token",
    )
    if not _wants_page(request):
        return response(request, error_reply(error), _CSP)
    page = _PAGE.format(message=error.message.capitalize(), hint=error.hint)
    reply = Reply(page.encode(), HTML, status=error.status, cache_control="no-store")
    return response(request, reply, _CSP)


def _wants_page(request: Request) -> bool:
    """Whether it comes from the address bar of a browser, or from our form."""
    return "text/html" in request.headers.get("Accept", "")


def _refreshed(request: Request) -> Response:
    """A page that leads to the address without the token.

    Not a redirect: after a link from another site, browsers follow it without our cookie.
    """
    page = _ENTERED.format(target=escape(_address(request)))
    reply = Reply(page.encode(), HTML, cache_control="no-store")
    return response(request, reply, _CSP)


def _redirected(request: Request) -> Response:
    answer = Response(status=303, headers={"Location": _address(request)})
    answer.autocorrect_location_header = False  # relative, for proxies with a prefix
    return answer


def _address(request: Request) -> str:
    """The request's address without the token, relative to itself."""
    others = [(name, value) for name, value in request.args.items(multi=True) if name != _NAME]
    page = quote(request.path.rpartition("/")[2])
    return f"./{page}" + (f"?{urlencode(others)}" if others else "")
