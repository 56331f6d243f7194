"""Files on other machines: object stores and web servers, behind fsspec."""
