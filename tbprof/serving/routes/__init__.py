"""The routes of docs/http_api.md: what each takes and answers, and the code that answers it.

`routes` brings them together as one WSGI application.
"""
