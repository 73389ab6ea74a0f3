"""Who may do what: links with tokens, signed sessions, and protection against forged requests.

Tokens are derived from the study's key, so they can be printed again and are stored nowhere; giving a person a new link
ends the old one and its sessions.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Study

Role = Literal["annotator", "lead"]
LEAD = "lead"
SESSION_SECONDS = 30 * 24 * 3600
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""On every answer; pages also get `Cache-Control: no-store`, so that going back shows what stands."""


@dataclass(frozen=True)
class Session:
    """Somebody who came in: an annotator by name, or the lead."""

    role: Role
    name: str
    nonce: str


class Access:
    """Links, sessions and request tokens of one study.

    Args:
        study: the study.
        store: its database.
        tokens: whether annotators need their link; without it they may pick their name.
    """

    def __init__(self, study: Study, store: Store, *, tokens: bool) -> None:
        self.study, self.store, self.tokens = study, store, tokens
        self._serializer = URLSafeTimedSerializer(study.secret, salt="session")

    def names(self) -> list[str]:
        """All annotators, by name."""
        return [row["name"] for row in self.store.read().execute("SELECT name FROM annotator ORDER BY name")]

    def _link_number(self, role: Role, name: str) -> int | None:
        if role == LEAD:
            return int(self.store.fact("lead_link") or 1)
        row = self.store.read().execute("SELECT link FROM annotator WHERE name = ?", (name,)).fetchone()
        return row["link"] if row else None

    def token(self, role: Role, name: str) -> str:
        """The secret part of somebody's link (256 bits)."""
        return self.study.sign("token", role, name, str(self._link_number(role, name)))

    def renew(self, role: Role, name: str) -> None:
        """End somebody's link and sessions; `token` gives the new one."""
        with self.store.write() as db:
            if role == LEAD:
                row = db.execute("SELECT value FROM fact WHERE name = 'lead_link'").fetchone()
                number = int(row["value"]) + 1 if row else 2
                db.execute("INSERT OR REPLACE INTO fact VALUES ('lead_link', ?)", (str(number),))
            else:
                db.execute("UPDATE annotator SET link = link + 1 WHERE name = ?", (name,))

    def holder(self, token: str) -> tuple[Role, str] | None:
        """Whose token this is; compares in constant time."""
        people: list[tuple[Role, str]] = [(LEAD, LEAD), *(("annotator", name) for name in self.names())]
        found = None
        for role, name in people:
            if hmac.compare_digest(self.token(role, name).encode(), token.encode()):
                found = (role, name)
        return found

    def _cookie(self, role: Role) -> str:
        return f"faithfuse_{self.study.ident}_{role}"

    def enter(self, request: Request, response: Response, role: Role, name: str) -> None:
        """Give the browser a session."""
        value = [role, name, self._link_number(role, name), secrets.token_urlsafe(16)]
        response.set_cookie(
            self._cookie(role),
            self._serializer.dumps(value),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )

    def leave(self, response: Response) -> None:
        """End the browser's sessions."""
        for role in ("annotator", LEAD):
            response.delete_cookie(self._cookie(role), httponly=True, samesite="lax")

    def session(self, request: Request, role: Role) -> Session | None:
        """The browser's session in a role, if it has a valid one."""
        cookie = request.cookies.get(self._cookie(role), "")
        try:
            found, name, link, nonce = self._serializer.loads(cookie, max_age=SESSION_SECONDS)
        except (BadSignature, ValueError, TypeError):
            return None
        if found != role or link != self._link_number(role, name):
            return None
        return Session(role, name, nonce)

    def csrf(self, session: Session) -> str:
        """The request token of a session; every change needs it."""
        return self.study.sign("csrf", session.role, session.name, session.nonce)

    def csrf_matches(self, session: Session, token: str) -> bool:
        """Whether a request token is the session's own."""
        return hmac.compare_digest(self.csrf(session).encode(), token.encode())


def from_own_page(request: Request) -> bool:
    """Whether the browser says that a change comes from a page of this server; no word counts as no."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == request.headers.get("host")
