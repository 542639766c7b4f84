"""A provider on this machine, for the real clients: embeddings, chats and reranking.

    with Loopback() as server:
        server.script(status(429, retry_after="2"), truncated())
        OpenAIEmbedder(base_url=f"{server.url}/v1")

Vectors are those of the hashing embedder, three times too long, so that a test can tell
texts apart and see who normalises. A chat says what the script tells it to say, in the words of
OpenAI, Anthropic, Gemini or Ollama. Scripted replies are used up first, one per request.
"""

from __future__ import annotations

import base64
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from nexusmem.embedders.feature_hash import HashingEmbedder

Vectors = list[list[float]]
DIMENSION = 64


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What a model says, and how it ends."""

    text: str = "hello"
    refused: bool = False
    cut_off: bool = False


@dataclass(frozen=True)
class Reply:
    """How to answer: change the vectors, choose the words, or send something else altogether."""

    vectors: Callable[[Vectors], Vectors] = lambda vectors: vectors
    said: Said = Said()
    scores: Callable[[list[float]], list[Any]] = lambda scores: scores
    send: Callable[[Handler, bytes], None] | None = None


def status(code: int, **headers: str) -> Reply:
    """Refuse. `retry_after="2"` is sent as Retry-After."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    content = json.dumps({"error": {"code": code, "message": "scripted", "status": "SCRIPTED"}})
    return Reply(send=lambda handler, _: handler.reply(code, content.encode(), **named))


def hang() -> Reply:
    """Say nothing until the server is closed."""
    return Reply(send=lambda handler, _: handler.hang_up(after=handler.server.closing.wait))


def delayed(text: str, asked: threading.Event, may_answer: threading.Event) -> Reply:
    """Set `asked`, and answer when `may_answer` is set."""

    def wait_and_send(handler: Handler, answer: bytes) -> None:
        asked.set()
        may_answer.wait(20)
        handler.reply(200, answer)

    return Reply(said=Said(text), send=wait_and_send)


def dropped() -> Reply:
    """Close the connection without a word."""
    return Reply(send=lambda handler, _: handler.hang_up())


def truncated() -> Reply:
    """Half of the answer, as if it were the whole."""
    return Reply(send=lambda handler, answer: handler.reply(200, answer[: len(answer) // 2]))


def page() -> Reply:
    """The sign-in page of a hotel's network."""
    html = b"<html>Welcome</html>"
    return Reply(send=lambda handler, _: handler.reply(200, html, **{"Content-Type": "text/html"}))


def says(text: str) -> Reply:
    return Reply(said=Said(text))


def refuses(text: str = "") -> Reply:
    """A model that will not answer, with or without words."""
    return Reply(said=Said(text, refused=True))


def is_cut_off(text: str) -> Reply:
    """A model that reaches its limit in the middle of a word."""
    return Reply(said=Said(text, cut_off=True))


def rescored(scores: Callable[[list[float]], list[Any]]) -> Reply:
    return Reply(scores=scores)


def sends(document: Any) -> Reply:
    """JSON, but not the kind that was promised."""
    return Reply(send=lambda handler, _: handler.reply(200, handler.encode(document)))


def slow(text: str, parts: int, pause_seconds: float) -> Reply:
    """An answer that arrives in parts, with a pause before each."""

    def send_parts(handler: Handler, answer: bytes) -> None:
        size = len(answer) // parts + 1
        handler.send_head(200, len(answer))
        for start in range(0, len(answer), size):
            handler.server.closing.wait(pause_seconds)
            handler.wfile.write(answer[start : start + size])
            handler.wfile.flush()

    return Reply(said=Said(text), send=send_parts)


def wrong_count() -> Reply:
    return Reply(vectors=lambda vectors: [*vectors, vectors[0]])


def not_a_number() -> Reply:
    return Reply(vectors=lambda vectors: [[float("nan"), *vectors[0][1:]], *vectors[1:]])


def dimensions(number: int) -> Reply:
    """Vectors of another length."""
    return Reply(vectors=lambda vectors: [[1.0] * number for _ in vectors])


@dataclass
class Loopback:
    """The server. `longest_text` is the model's context, in characters."""

    longest_text: int = 1_000_000
    honours_dimensions: bool = True
    wants: str = ""  # a parameter without which a chat is refused
    refuses: str = ""  # a parameter with which a chat is refused
    requests: list[Request] = field(default_factory=list)
    gets: list[dict[str, str]] = field(default_factory=list)  # the headers of requests by GET
    _script: deque[Reply] = field(default_factory=deque)

    def __enter__(self) -> Loopback:
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, *replies: Reply) -> None:
        """Answer the next requests like this."""
        self._script.extend(replies)

    def take(self, request: Request) -> Reply:
        self.requests.append(request)
        return self._script.popleft() if self._script else Reply()

    def embed(self, texts: list[str], dimension: int | None) -> Vectors:
        asked = dimension if self.honours_dimensions else None
        return (3 * HashingEmbedder(asked or DIMENSION).embed(texts)).tolist()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, loopback: Loopback) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.loopback = loopback
        self.closing = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two would wait 40 ms for each other
    server: _Server
    body: dict[str, Any]

    def do_GET(self) -> None:
        """Nothing here is asked by GET, except by who follows a redirection."""
        self.server.loopback.gets.append(dict(self.headers))
        self.reply(405, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.loopback.take(Request(self.path, headers, body))
        self.body = body
        try:
            answer = self.encode(self._answer(body, reply))
        except _Refused as refused:
            self.reply(refused.status, json.dumps(refused.body).encode())
            return
        if reply.send:
            reply.send(self, answer)
        else:
            self.reply(200, answer)

    def _answer(self, body: dict[str, Any], reply: Reply) -> Any:
        for ending, route in ROUTES.items():
            if self.path.partition("?")[0].endswith(ending):
                return route(self.server.loopback, body, reply)
        raise _Refused(404, {"error": "no such path"})

    def encode(self, document: Any) -> bytes:
        """Return the answer as a stream if the client asked for one, otherwise as JSON."""
        path = self.path.partition("?")[0]
        for ending, stream in STREAMS.items():
            if path.endswith(ending) and self.body.get("stream", ":stream" in path):
                try:
                    return stream(document)
                except (LookupError, TypeError, AttributeError):
                    break  # a test sends another document
        return json.dumps(document).encode()

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        self.send_head(status, len(content), **headers)
        self.wfile.write(content)

    def send_head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        is_stream = status == 200 and self.path.partition("?")[0].endswith(tuple(STREAMS))
        kind = "text/event-stream" if is_stream else "application/json"
        fixed = {"Content-Type": kind, "Content-Length": str(length)}
        for name, value in {**fixed, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def hang_up(self, after: Callable[[], object] = lambda: None) -> None:
        after()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Refused(Exception):
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


def _openai(loopback: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    texts = body["input"]
    if len(texts) > 2048 or not all(texts):
        raise _Refused(400, {"error": {"message": "'input' is invalid"}})
    if any(len(text) > loopback.longest_text for text in texts):
        message = "This model's maximum context length is 8192 tokens"
        raise _Refused(400, {"error": {"message": message}})
    vectors = reply.vectors(loopback.embed(texts, body.get("dimensions")))
    rows = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, body)}
        for index, vector in enumerate(vectors)
    ]
    # Backwards: clients must go by the index.
    return {"object": "list", "model": body["model"], "data": rows[::-1]}


def _encoded(vector: list[float], body: dict[str, Any]) -> str | list[float]:
    if body.get("encoding_format") != "base64":
        return vector
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


def _gemini_batch(loopback: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    requests = body["requests"]
    if len(requests) > 100:
        raise _Refused(400, {"error": {"code": 400, "message": "at most 100 requests"}})
    dimension = requests[0].get("outputDimensionality")
    texts = [_gemini_text(request["content"]) for request in requests]
    vectors = reply.vectors(loopback.embed(texts, dimension))
    return {"embeddings": [{"values": vector} for vector in vectors]}


def _gemini_one(loopback: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    options = {**body, **body.get("embedContentConfig", {})}
    vectors = loopback.embed([_gemini_text(body["content"])], options.get("outputDimensionality"))
    return {"embedding": {"values": reply.vectors(vectors)[0]}}


def _gemini_text(content: dict[str, Any]) -> str:
    """However many parts a content has, it gets one vector: the trap."""
    return " ".join(part["text"] for part in content["parts"])


def _ollama(loopback: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    texts = body["input"]
    if any(len(text) > loopback.longest_text for text in texts):
        if not body.get("truncate", True):
            raise _Refused(400, {"error": "the input length exceeds the context length"})
        texts = [text[: loopback.longest_text] for text in texts]
    vectors = reply.vectors(loopback.embed(texts, body.get("dimensions")))
    return {"model": body["model"], "embeddings": vectors}


def _openai_chat(loopback: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    if loopback.wants and loopback.wants not in body:
        message = f"Unsupported parameter: use '{loopback.wants}' instead."
        raise _Refused(400, {"error": {"message": message}})
    if loopback.refuses and loopback.refuses in body:
        message = f"Unsupported parameter: '{loopback.refuses}' is not supported."
        raise _Refused(400, {"error": {"message": message}})
    said = reply.said
    end = "content_filter" if said.refused else "length" if said.cut_off else "stop"
    worded = said.refused and said.text
    message = {
        "role": "assistant",
        "content": None if said.refused else said.text,
        "refusal": said.text if worded else None,
    }
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"] + "-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop" if worded else end}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _anthropic(_: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    said = reply.said
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"] + "-2026",
        "content": [thinking, {"type": "text", "text": said.text}],
        "stop_reason": (
            "refusal" if said.refused else "max_tokens" if said.cut_off else "end_turn"
        ),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def _gemini_chat(_: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    said = reply.said
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}
    parts = [{"text": "Hm.", "thought": True}, {"text": said.text}]
    if said.refused and not said.text:
        return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}
    end = "SAFETY" if said.refused else "MAX_TOKENS" if said.cut_off else "STOP"
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": end}],
        "modelVersion": "model-2026",
        "usageMetadata": usage,
    }


def _ollama_chat(_: Loopback, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    return {
        "model": body["model"] + "-2026",
        "message": {"role": "assistant", "content": reply.said.text},
        "done": True,
        "done_reason": "length" if reply.said.cut_off else "stop",
        "prompt_eval_count": 11,
        "eval_count": 7,
    }


# -- the same answers as streams: the text in two parts, then the end


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _events(*documents: Any, named: bool = False) -> bytes:
    lines = [
        (f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n"
        for each in documents
    ]
    return "".join(lines).encode()


def _openai_stream(answer: dict[str, Any]) -> bytes:
    (choice,) = answer["choices"]
    said = choice["message"]
    head = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1}
    head["model"] = answer["model"]

    def chunk(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    kind = "refusal" if said.get("refusal") else "content"
    parts = [chunk({kind: part}) for part in _halves(said.get(kind) or "")]
    last = chunk({}, choice.get("finish_reason", "stop"))
    usage = [{**head, "choices": [], "usage": answer["usage"]}] if "usage" in answer else []
    return _events(*parts, last, *usage) + b"data: [DONE]\n\n"


def _anthropic_stream(answer: dict[str, Any]) -> bytes:
    start = {**answer, "content": [], "stop_reason": None}
    sent: list[Any] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(answer["content"]):
        kind = block["type"]
        key = "text" if kind == "text" else "thinking"
        empty = {**block, key: ""}
        sent.append({"type": "content_block_start", "index": index, "content_block": empty})
        for part in _halves(block[key]):
            delta = {"type": f"{key}_delta", key: part}
            sent.append({"type": "content_block_delta", "index": index, "delta": delta})
        sent.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    used = {"output_tokens": answer["usage"]["output_tokens"]}
    sent.append({"type": "message_delta", "delta": delta, "usage": used})
    return _events(*sent, {"type": "message_stop"}, named=True)


def _gemini_stream(answer: dict[str, Any]) -> bytes:
    if "candidates" not in answer and "promptFeedback" not in answer:
        raise LookupError
    if "candidates" not in answer:
        return _events(answer)
    (candidate,) = answer["candidates"]
    thought, said = candidate["content"]["parts"]
    contents = [[thought], *([{"text": part}] for part in _halves(said["text"]))]
    parts = [
        {"candidates": [{"content": {"role": "model", "parts": each}}]} for each in contents[:-1]
    ]
    last = {"content": {"role": "model", "parts": contents[-1]}}
    last["finishReason"] = candidate["finishReason"]
    return _events(*parts, {**answer, "candidates": [last]})


def _ollama_stream(answer: dict[str, Any]) -> bytes:
    part, rest = _halves(answer["message"]["content"])
    first = {"message": {"role": "assistant", "content": part}, "done": False}
    last = {**answer, "message": {"role": "assistant", "content": rest}}
    return b"".join(json.dumps(each).encode() + b"\n" for each in (first, last))


STREAMS: dict[str, Callable[[Any], bytes]] = {
    "/chat/completions": _openai_stream,
    "/v1/messages": _anthropic_stream,
    ":streamGenerateContent": _gemini_stream,
    "/api/chat": _ollama_stream,
}


def _rerank(_: Loopback, body: dict[str, Any], reply: Reply) -> Any:
    """Longer texts fit better. With a model the words are Cohere's, without it TEI's."""
    tei = "model" not in body
    texts = body["texts" if tei else "documents"]
    if tei and len(texts) > 32:
        raise _Refused(422, {"error": "batch size > maximum allowed batch size 32"})
    scores = reply.scores([len(text) / 100 for text in texts])
    name = "score" if tei else "relevance_score"
    rows = [{"index": index, name: score} for index, score in enumerate(scores)]
    best_first = sorted(rows, key=lambda row: -row["index"])
    return best_first if tei else {"id": "rerank-1", "results": best_first}


ROUTES: dict[str, Callable[[Loopback, dict[str, Any], Reply], Any]] = {
    "/embeddings": _openai,
    ":batchEmbedContents": _gemini_batch,
    ":embedContent": _gemini_one,
    "/api/embed": _ollama,
    "/chat/completions": _openai_chat,
    "/v1/messages": _anthropic,
    ":streamGenerateContent": _gemini_chat,
    "/api/chat": _ollama_chat,
    "/rerank": _rerank,
}
