"""The web app: routes, pages and what they send. All rules about judgements live in `judge`, `label`, `adjudicate`."""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faithfuse.annotate import access as security
from faithfuse.annotate import adjudicate, judge, label
from faithfuse.annotate.access import Access, Session, from_own_page
from faithfuse.annotate.judge import Refused
from faithfuse.annotate.store import Store
from faithfuse.annotate.study import Study
from faithfuse.annotate.text import relevant_turns, shown

HERE = Path(__file__).parent
MAX_BODY = 2**20
"""Longest request body in bytes; a page's labels need a few thousand."""
LOOPBACK = ["127.0.0.1", "localhost"]

Handler = Callable[[Request, Session], Awaitable[Response]]


def minutes(seconds: float | None) -> str:
    """A duration in words, to the minute: it is an estimate."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "under a minute"
    whole = round(seconds / 60)
    return f"about {whole} min" if whole < 90 else f"about {whole // 60} h {whole % 60:02d} min"


class SafeHeaders:
    """Puts the protective headers on every answer and keeps judgements out of caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on to the app, adding headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.setdefault("headers", [])
                headers += [(name.lower().encode(), value.encode()) for name, value in security.HEADERS.items()]
                cached = scope["path"].startswith("/static/")
                headers.append((b"cache-control", b"no-cache" if cached else b"no-store"))
            await send(message)

        await self.app(scope, receive, with_headers)


class Pages:
    """The pages of one study.

    Args:
        study: the study.
        store: its database.
        tokens: whether annotators need their own link.
    """

    def __init__(self, study: Study, store: Store, *, tokens: bool) -> None:
        self.study, self.store = study, store
        self.settings = study.settings
        self.audit = self.settings.kind == "audit"
        self.access = Access(study, store, tokens=tokens)
        self.templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {"shown": shown, "minutes": minutes}
        for name in self.templates.list_templates():  # compile now, so that nobody waits for it
            self.templates.get_template(name)
        self.codebook, self.roles = None, {}
        if self.audit:
            from faithfuse.annotate.codebook import load_codebook
            from faithfuse.audit.roles import load_roles

            self.codebook = load_codebook(study.folder / "codebook.yaml")
            self.roles = load_roles(study.folder / "source_roles.yaml")

    # What pages are made of

    def _html(self, template: str, session: Session | None, status: int = 200, **values: Any) -> HTMLResponse:
        page = self.templates.get_template(template).render(
            study=self.settings,
            storage=f"faithfuse-{self.study.ident}-{session.name if session else ''}",
            session=session,
            csrf=self.access.csrf(session) if session else "",
            closed=self.store.fact("closed_at") is not None,
            tokens=self.access.tokens,
            **values,
        )
        return HTMLResponse(page, status)

    def _problem(self, request: Request, status: int, message: str, **shown_too: Any) -> Response:
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"error": message, **shown_too}, status)
        return self._html("problem.html", None, status, message=message)

    # Guards

    def _guard(self, role: security.Role, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Let in only who has a session in the role; changes also need the request token of that session."""

        @functools.wraps(handler)
        async def guarded(request: Request) -> Response:
            session = self.access.session(request, role)  # one look-up by key: sooner done than handed to a thread
            if session is None:
                message = (
                    "Open your personal link to come in."
                    if self.access.tokens or role == security.LEAD
                    else "Choose your name first."
                )
                if request.method == "GET" and role == "annotator" and not self.access.tokens:
                    return RedirectResponse("/", 303)
                return self._problem(request, 401, message)
            try:
                if request.method == "POST":
                    request.state.form = await self._body(request)
                    token = request.headers.get("x-csrf-token") or request.state.form.get("csrf", "")
                    if not from_own_page(request) or not self.access.csrf_matches(session, str(token)):
                        raise Refused(403, "This change did not come from a page of this study. Load the page again.")
                return await handler(request, session)
            except Refused as refused:
                return self._problem(request, refused.status, refused.shown.pop("error"), **refused.shown)

        return guarded

    async def _body(self, request: Request) -> dict[str, Any]:
        """A form, or a JSON object, of at most `MAX_BODY` bytes."""
        data = b""
        async for chunk in request.stream():
            data += chunk
            if len(data) > MAX_BODY:
                raise Refused(413, "This is too long to be stored.")
        try:
            if request.headers.get("content-type", "").startswith("application/json"):
                value = json.loads(data)
                if not isinstance(value, dict):
                    raise ValueError("no object")
                json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate cannot be stored
                return value
            return dict(parse_qsl(data.decode(), keep_blank_values=True, strict_parsing=bool(data), max_num_fields=50))
        except (ValueError, RecursionError):
            raise Refused(400, "The request could not be read.") from None

    # Coming in

    async def home(self, request: Request) -> Response:
        """Instructions and progress for an annotator; who has no session picks a name, or is asked for the link."""
        session = self.access.session(request, "annotator")
        if session is None:
            if self.access.tokens:
                message = "Open the personal link that you were given: it lets you in, and remembers this browser."
                return self._html("problem.html", None, 401, heading="Who are you?", message=message)
            names = await run_in_threadpool(self.access.names)
            return self._html("choose.html", None, names=names)
        progress = await run_in_threadpool(judge.progress, self.store, session.name)
        position = await run_in_threadpool(judge.next_position, self.store, session.name)
        return self._html(
            "home.html", session, progress=progress, next=position, codebook=self.codebook, audit=self.audit
        )

    async def choose(self, request: Request) -> Response:
        """Take a name, where links are not required."""
        try:
            form = await self._body(request)
        except Refused as refused:
            return self._problem(request, refused.status, str(refused))
        names = await run_in_threadpool(self.access.names)
        if self.access.tokens or not from_own_page(request) or form.get("name") not in names:
            return self._problem(request, 403, "Open your personal link to come in.")
        response = RedirectResponse("/", 303)
        await run_in_threadpool(self.access.enter, request, response, "annotator", form["name"])
        return response

    async def enter(self, request: Request) -> Response:
        """Take a link's token and give a session for it."""
        holder = await run_in_threadpool(self.access.holder, request.query_params.get("token", ""))
        if holder is None:
            return self._problem(request, 403, "This link is not valid any more. Ask for a new one.")
        response = RedirectResponse("/study" if holder[0] == security.LEAD else "/", 303)
        await run_in_threadpool(self.access.enter, request, response, *holder)
        return response

    async def leave(self, request: Request, session: Session) -> Response:
        """End the session."""
        response = RedirectResponse("/", 303)
        self.access.leave(response)
        return response

    # Judging

    async def go_on(self, request: Request, session: Session) -> Response:
        """The next unit without a judgement, or the end."""
        return RedirectResponse(await run_in_threadpool(self._next, session, 0), 303)

    def _next(self, session: Session, after: int) -> str:
        position = judge.next_position(self.store, session.name, after)
        return f"/item/{position}" if position else "/"

    async def item(self, request: Request, session: Session) -> Response:
        """One unit to judge."""
        return await run_in_threadpool(self._item, session, request.path_params["position"])

    def _item(self, session: Session, position: int) -> Response:
        values: dict[str, Any] = {
            "progress": judge.progress(self.store, session.name),
            "request_id": secrets.token_hex(16),
            "position": position,
        }
        if self.audit:
            page = label.tuple_page(self.store, session.name, position)
            return self._html("audit.html", session, page=page, **values, **self._tuple_values(page.whole, page.record))
        page = judge.page(self.store, session.name, position)
        return self._html("rate.html", session, page=page, **values, **self._response_values(page))

    def _response_values(self, page: Any) -> dict[str, Any]:
        text = page.response.text if page.point is None else page.response.points[page.point]
        about = f"{page.item.question or ''} {text}"
        return {
            "text": text,
            "anchors": self.settings.anchors["response" if page.point is None else "point"],
            "relevant": relevant_turns(page.item.context, about, self.settings.relevant_turns),
        }

    def _tuple_values(self, whole: dict[str, Any], record: dict[str, Any] | None) -> dict[str, Any]:
        note = record["annotation"] if record else None
        return {
            "codebook": self.codebook,
            "role": self.roles[whole["source"]["role"]],
            "standing": {
                "judgements": note["judgements"] if note else dict.fromkeys("IAMD"),
                "reasons": {name: text or "" for name, text in note["reasons"].items()} if note else {},
                "evidence": note["evidence"] if note else {},
                "support": record["support"] if record else None,
            },
        }

    async def save_item(self, request: Request, session: Session) -> Response:
        """Store a judgement; the answer comes when it is on the disk."""
        return await run_in_threadpool(self._save_item, request, session)

    def _save_item(self, request: Request, session: Session) -> Response:
        form, position = request.state.form, request.path_params["position"]
        if self.audit:
            try:
                labels = label.Labels.model_validate(form)
            except ValidationError:
                raise Refused(400, "The request could not be read.") from None
            saved = label.save_labels(self.store, session.name, position, labels, codebook=self.codebook.version)
            return JSONResponse({"saved": saved, "next": self._next(session, position)})
        values = _rating(form)
        judge.save(self.store, session.name, position, **values)
        following = self._next(session, position)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"saved": values["request_id"], "next": following})
        return RedirectResponse(following, 303)

    async def undo(self, request: Request, session: Session) -> Response:
        """Take the latest rating back and show its unit."""
        if self.audit:
            raise Refused(400, "Audit labels are not undone: save a new revision, the old one stays.")
        form = request.state.form
        position = await run_in_threadpool(
            judge.undo,
            self.store,
            session.name,
            request_id=_text(form, "request_id", 80),
            last=_integer(form, "last"),
        )
        following = f"/item/{position}"
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"saved": form["request_id"], "next": following})
        return RedirectResponse(following, 303)

    # The lead's pages

    async def study_page(self, request: Request, session: Session) -> Response:
        """Coverage, agreement and spread."""
        from faithfuse.annotate import figures

        values = await run_in_threadpool(figures.overview, self.store, self.settings)
        return self._html("study.html", session, audit=self.audit, **values)

    async def export(self, request: Request, session: Session) -> Response:
        """Everything that the study holds, as an archive."""
        from faithfuse.annotate import export

        data = await run_in_threadpool(export.zipped, self.store, self.settings)
        headers = {"Content-Disposition": 'attachment; filename="study.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    async def close(self, request: Request, session: Session) -> Response:
        """Close or open independent labelling."""
        act = adjudicate.reopen if request.state.form.get("act") == "open" else adjudicate.close
        await run_in_threadpool(act, self.store)
        return RedirectResponse("/study", 303)

    async def disagreements(self, request: Request, session: Session) -> Response:
        """What annotators disagree on."""
        rows = await run_in_threadpool(adjudicate.disagreements, self.store, self.settings.kind)
        return self._html("disagreements.html", session, rows=rows, audit=self.audit, value_of=adjudicate.value_of)

    async def adjudicate(self, request: Request, session: Session) -> Response:
        """One disagreement to decide."""
        start = request.query_params.get("from", "")
        return await run_in_threadpool(self._adjudicate, session, request.path_params["unit"], start)

    def _adjudicate(self, session: Session, unit_id: int, start: str) -> Response:
        if self.store.fact("closed_at") is None:
            raise Refused(423, "Close independent labelling first.")
        rows = adjudicate.disagreements(self.store, self.settings.kind)
        row = next((row for row in rows if row.unit_id == unit_id), None)
        if row is None:
            raise Refused(404, "There is no disagreement on this item.")
        values: dict[str, Any] = {
            "row": row,
            "request_id": secrets.token_hex(16),
            "base": row.decided["revision"] if row.decided else 0,
            "value_of": adjudicate.value_of,
        }
        db = self.store.read()
        unit = db.execute("SELECT * FROM unit WHERE unit_id = ?", (unit_id,)).fetchone()
        if self.audit:
            whole = label._tuple(db, unit)["tuple"]
            decided = row.decided["record"] if row.decided else None
            start = start if start in row.labels else ""
            record = row.labels[start] if start else decided
            return self._html(
                "adjudicate_audit.html",
                session,
                whole=whole,
                start=start,
                **values,
                **self._tuple_values(whole, record),
            )
        item, response = judge.material(db, unit)
        page = judge.Page(0, unit_id, item, response, unit["point"], None, 0)
        return self._html("adjudicate_rating.html", session, page=page, **values, **self._response_values(page))

    async def save_adjudication(self, request: Request, session: Session) -> Response:
        """Store a decision beside the originals."""
        form, unit_id = request.state.form, request.path_params["unit"]
        if self.audit:
            try:
                labels = label.Labels.model_validate(form)
            except ValidationError:
                raise Refused(400, "The request could not be read.") from None
            await run_in_threadpool(
                adjudicate.decide_labels, self.store, unit_id, labels, codebook=self.codebook.version
            )
            return JSONResponse({"saved": labels.request_id, "next": "/study/disagreements"})
        values = _rating(form)
        if values["likert"] is None:
            raise Refused(400, "Choose a rating from 1 to 5.")
        values.pop("seconds")
        await run_in_threadpool(adjudicate.decide_rating, self.store, unit_id, **values)
        return RedirectResponse("/study/disagreements", 303)

    def routes(self) -> list[Route | Mount]:
        """All routes; what is not guarded here gives nothing away."""
        annotator, lead = (functools.partial(self._guard, role) for role in ("annotator", "lead"))
        return [
            Route("/", self.home),
            Route("/choose", self.choose, methods=["POST"]),
            Route("/enter", self.enter),
            Route("/leave", annotator(self.leave), methods=["POST"]),
            Route("/next", annotator(self.go_on)),
            Route("/item/{position:int}", annotator(self.item)),
            Route("/item/{position:int}", annotator(self.save_item), methods=["POST"]),
            Route("/undo", annotator(self.undo), methods=["POST"]),
            Route("/study", lead(self.study_page)),
            Route("/study/export.zip", lead(self.export)),
            Route("/study/close", lead(self.close), methods=["POST"]),
            Route("/study/disagreements", lead(self.disagreements)),
            Route("/study/disagreements/{unit:int}", lead(self.adjudicate)),
            Route("/study/disagreements/{unit:int}", lead(self.save_adjudication), methods=["POST"]),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]


def _text(form: dict[str, Any], name: str, limit: int) -> str:
    value = form.get(name, "")
    if not isinstance(value, str) or len(value) > limit:
        raise Refused(400, f"The field {name} is too long.")
    return value


def _integer(form: dict[str, Any], name: str) -> int:
    value = str(form.get(name, ""))
    if not value.isascii() or not value.isdecimal() or len(value) > 15:
        raise Refused(400, f"The field {name} is no number.")
    return int(value)


def _rating(form: dict[str, Any]) -> dict[str, Any]:
    """The fields of a rating form: `likert` is 1 to 5, or `abstain`."""
    given = _text(form, "likert", 10)
    if given not in {"1", "2", "3", "4", "5", "abstain"}:
        raise Refused(400, "Choose a rating from 1 to 5, or abstain.")
    request_id = _text(form, "request_id", 80)
    if len(request_id) < 8:
        raise Refused(400, "The request has no id.")
    try:
        seconds = float(form["seconds"]) if form.get("seconds") else None
    except ValueError:
        seconds = None
    return {
        "request_id": request_id,
        "base": _integer(form, "base"),
        "likert": None if given == "abstain" else int(given),
        "note": _text(form, "note", 10_000).replace("\r\n", "\n").strip(),
        "seconds": seconds if seconds is not None and 0 <= seconds <= 86_400 else None,
    }


def make_app(study: Study, store: Store, *, tokens: bool, hosts: list[str] | None = None) -> Starlette:
    """The ASGI app of a study.

    Args:
        study: the study.
        store: its database.
        tokens: whether annotators need their own link.
        hosts: host names to answer to (against DNS rebinding); loopback when None, all for `["*"]`.
    """
    middleware = [
        Middleware(SafeHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts or LOOPBACK, www_redirect=False),
    ]
    return Starlette(routes=Pages(study, store, tokens=tokens).routes(), middleware=middleware)
