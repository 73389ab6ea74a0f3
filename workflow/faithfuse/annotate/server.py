"""Serving a study: one server at a time, on loopback unless told otherwise."""

from __future__ import annotations

import ipaddress
import socket
import sys
from pathlib import Path
from urllib.parse import quote

from faithfuse.annotate.access import LEAD, Access
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Study
from faithfuse.errors import FaithfuseError


def is_loopback(host: str) -> bool:
    """Whether a host is reachable from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def links(access: Access, base: str) -> dict[str, str]:
    """Everybody's personal link, the lead's first."""
    people = [(LEAD, LEAD), *(("annotator", name) for name in access.names())]
    return {name: f"{base}/enter?token={quote(access.token(role, name))}" for role, name in people}


def bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        FaithfuseError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, since asyncio switches Nagle's delay (40 ms on every page) off for sockets that say they are TCP alone.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # who comes before the app is ready waits for it
    except OSError as error:
        listener.close()
        raise FaithfuseError(
            f"cannot listen on {host} port {port} ({error.strerror or error}). Choose another --port or --host."
        ) from None
    return listener


def serve(
    folder: Path, *, host: str, port: int, tokens: bool, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve a study until the process is told to stop.

    Args:
        folder: the study.
        host: address to listen on; any but loopback makes personal links necessary.
        port: port; 0 for a free one.
        tokens: ask for personal links on loopback too.
        certificate: PEM file with the certificate chain, for HTTPS.
        key: PEM file with the certificate's key.

    Raises:
        FaithfuseError: another server holds the study, or the address is taken.
    """
    import uvicorn

    from faithfuse.annotate.web import make_app

    study = Study(folder)
    store = Store(study.database)
    open_host = not is_loopback(host)
    tokens = tokens or open_host
    with study.lock(), bind(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if host in {"0.0.0.0", "::"}:
            shown = socket.gethostname()
        base = f"{'https' if certificate else 'http'}://{shown}:{port}"
        access = Access(study, store, tokens=tokens)
        app = make_app(study, store, tokens=tokens, hosts=["*"] if open_host else None)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # the log would hold tokens
            server_header=False,
            lifespan="off",
            ws="none",
            ssl_certfile=certificate,
            ssl_keyfile=key,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        people = links(access, base)
        print(f"{study.settings.title}: {len(people) - 1} annotators")
        if tokens:
            for name, link in people.items():
                print(f"  {name}: {link}")
        else:
            print(f"  annotators: {base}/")
            print(f"  lead (progress, agreement, adjudication): {people[LEAD]}")
        if open_host and not certificate:
            print("  warning: without --certificate the links and labels travel unencrypted", file=sys.stderr)
        print("Stop with Ctrl+C.", flush=True)
        server.run(sockets=[listener])
