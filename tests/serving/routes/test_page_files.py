"""The files of the pages."""

import gzip
from pathlib import Path

import pytest
from helpers.asking import error_of, get
from werkzeug.test import Client

from tbprof.serving.assets import Assets
from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service


@pytest.fixture
def pages(tmp_path) -> Path:
    for name, content in (
        ("index.html", "<!DOCTYPE html>"),
        ("index.js", "export function render() {}"),
        ("assets/app-1a2b.js", "let x = 1;" * 1000),
        ("assets/app-1a2b.css", "a{}"),
        ("secret.py", "x"),
    ):
        path = tmp_path / "static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "outside.js").write_text("no")
    return tmp_path / "static"


def test_pages_are_served_by_exact_name_with_their_types(pages):
    client = Client(Application(Service(""), Assets(pages)))
    for name, mimetype, cache in (
        ("index.html", "text/html", "no-cache"),
        ("index.js", "text/javascript", "no-cache"),
        ("assets/app-1a2b.js", "text/javascript", "public, max-age=31536000, immutable"),
        ("assets/app-1a2b.css", "text/css", "public, max-age=31536000, immutable"),
    ):
        response = get(client, name)
        assert response.status_code == 200
        assert (response.mimetype, response.headers["Cache-Control"]) == (mimetype, cache)
        again = get(client, name, {"If-None-Match": response.headers["ETag"]})
        assert again.status_code == 304
    for name in (
        "secret.py",
        "assets/../secret.py",
        "../outside.js",
        "assets",
        "assets/",
        "/index.html",
    ):
        assert error_of(get(client, name)) == (404, "not_found")
    (pages / "late.js").write_text("no")
    assert error_of(get(client, "late.js")) == (404, "not_found")
    zipped = get(client, "assets/app-1a2b.js", {"Accept-Encoding": "gzip"})
    assert gzip.decompress(zipped.data) == b"let x = 1;" * 1000


def test_installation_without_pages_says_so(tmp_path):
    client = Client(Application(Service(""), Assets(tmp_path / "static")))
    assert "are missing" in get(client, "index.html").text
    assert "export function render" in get(client, "index.js").text
    assert error_of(get(client, "assets/x.js")) == (404, "not_found")
