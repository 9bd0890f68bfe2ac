"""Keeps a process from every host but this one, whatever its libraries call."""

import io
import socket

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def stay_on_loopback():
    """Refuses connections to other hosts; returns their names, which are added as they are asked for."""
    lookup, connect = socket.getaddrinfo, socket.socket.connect
    refused = set()

    def lookup_on_loopback(host, *args, **kwargs):
        if host not in LOOPBACK:
            refused.add(str(host))
            raise socket.gaierror(f"{host} is unreachable: tests stay on the loopback")
        return lookup(host, *args, **kwargs)

    def connect_on_loopback(self, address):
        if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            refused.add(str(address[0]))
            raise OSError(f"{address} is unreachable: tests stay on the loopback")
        return connect(self, address)

    # Before libraries are loaded, which keep references to what they call.
    socket.getaddrinfo, socket.socket.connect = lookup_on_loopback, connect_on_loopback
    return refused


def contexts_from_files(contexts):
    """Answers requests of `requests` for contexts as their servers do. contexts: {URL: path}"""
    import requests.adapters

    send = requests.adapters.HTTPAdapter.send

    def from_file(self, request, **kwargs):
        if request.url not in contexts:
            return send(self, request, **kwargs)
        response = requests.Response()
        response.status_code = 200
        response.url = request.url
        response.request = request
        response.headers["Content-Type"] = "application/ld+json"
        with open(contexts[request.url], "rb") as file:
            response.raw = io.BytesIO(file.read())
        return response

    requests.adapters.HTTPAdapter.send = from_file
