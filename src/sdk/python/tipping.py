"""Client of the tipping service for a creator's backend: one file for Python 3.9 and newer, without packages.

    client = Client("https://tips.example", api_key="tk_live_...")
    for event in client.events(after=cursor):
        ...
    event = verify_webhook(request.body, request.headers, secret="whsec_...")
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterable, Iterator, Mapping, Sequence

TIMEOUT_SECONDS = 20
#: How long the service keeps a request for events while there is none.
WAIT_SECONDS = 30
#: The longest pause after failures.
MOST_PAUSE_SECONDS = 30


#: Refusals of status 502 by the service; any other 502 is of a proxy.
_REFUSED_BY_PROVIDER = ("payment_refused", "payout_refused")
#: Refusals of status 409 that pass by themselves.
_PASSING = ("creator_wallet_pending", "request_in_progress", "transfer_in_progress")


class TippingError(Exception):
    """A refusal by the service, or a network failure (code "network", status 0)."""

    def __init__(
        self, message: str, code: str, status: int, request_id: str | None = None, details: Sequence = ()
    ):
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        #: What is wrong, for a status of 400 or 422: each with "field" and "problem".
        self.details = list(details)

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed later."""
        if self.code in _REFUSED_BY_PROVIDER:
            return False
        return self.status == 0 or self.status == 429 or self.status >= 500 or self.code in _PASSING


class WebhookError(Exception):
    """Why a webhook is refused. Answer it with 400."""


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secret: str, tolerance_seconds: float = 300
) -> dict[str, Any]:
    """The event of a webhook (Standard Webhooks 1.0, signature v1). `body` as it arrived, before it is parsed.

    An event may come again: its "id" stays the same.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not sent.get(name):
            raise WebhookError(f"the header {name} is missing")
    timestamp = sent["webhook-timestamp"]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookError("the header webhook-timestamp is no time in seconds")
    age = time.time() - int(timestamp)
    if age > tolerance_seconds:
        raise WebhookError("the webhook is too old")
    if age < -tolerance_seconds:
        raise WebhookError("the webhook is from the future")
    data = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{sent['webhook-id']}.{timestamp}.".encode() + data
    expected = base64.b64encode(hmac.new(_key_of(secret), signed, hashlib.sha256).digest())
    for signature in sent["webhook-signature"].split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value.encode(), expected):
            return json.loads(data)
    raise WebhookError("no v1 signature of the webhook is of this secret")


def _key_of(secret: str) -> bytes:
    prefix, _, text = secret.partition("_")
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if prefix != "whsec" or not key:
        raise ValueError("the secret is not whsec_<base64>")
    return key


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The service never redirects a call, and the key is for nobody else."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


class Client:
    """The calls of a backend. Every call returns the answer's JSON and raises TippingError.

    `session`: the creator's session cookie. Only the calls about webhooks need it, because a key must not make them.
    """

    def __init__(self, base_url: str, api_key: str | None = None, session: str | None = None):
        self.base_url = base_url.rstrip("/")
        cookie = "__Host-session" if base_url.startswith("https:") else "session"
        self._credentials = {
            "key": {"authorization": api_key and f"Bearer {api_key}"},
            "session": {"cookie": session and f"{cookie}={session}"},
        }

    def events(self, after: int = 0, types: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        """Everything that happens to the creator's money as it happens, oldest first, each event once.

        Store the "sequence" of the last processed event and pass it as `after` the next time. Temporary failures are
        retried. Skip types that you do not know. Never ends.
        """
        wanted = ",".join(types) or None
        failures = 0
        while True:
            page: dict[str, Any] = {"events": []}
            try:
                page = self.list_events(after=after, types=wanted, wait=WAIT_SECONDS)
                failures = 0
            except TippingError as error:
                if not error.temporary:
                    raise
                failures += 1
            for event in page["events"]:
                yield event
                after = event["sequence"]
            # Events of other types were looked at too.
            after = max(after, page.get("after", after))
            # A process that stops answers at once.
            if not page["events"] and not page.get("hasMore"):
                time.sleep(min(2**failures, MOST_PAUSE_SECONDS) * random.uniform(0.25, 0.75))

    def _call(
        self,
        method: str,
        path: str,
        credential: str = "",
        query: dict = {},
        body: dict | None = None,
        headers: dict = {},
    ) -> dict[str, Any]:
        def given(values: dict) -> dict:
            return {name: value for name, value in values.items() if value is not None}

        wait = query.get("wait") or 0
        asked = urllib.parse.urlencode(given(query))
        sent = {"accept": "application/json", **given({**headers, **self._credentials.get(credential, {})})}
        data = None
        if body is not None:
            data = json.dumps(given(body)).encode()
            sent["content-type"] = "application/json"
        url = self.base_url + path + (f"?{asked}" if asked else "")
        request = urllib.request.Request(url, data, sent, method=method)
        try:
            try:
                answer = _opener.open(request, timeout=TIMEOUT_SECONDS + wait)
            except urllib.error.HTTPError as refusal:
                answer = refusal
            with answer:
                return _answer_of(answer.status, answer.headers.get("x-request-id"), answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise TippingError(f"no answer: {error}", "network", 0) from error

    # Made from the OpenAPI document by `npm run check -- --fix`: begin

    def create_payment_intent(
        self,
        *,
        creator_id: str,
        input_token_mint: str,
        source_wallet_address: str,
        amount: float | None = None,
        amount_usd: float | None = None,
        token_symbol: str | None = None,
        message: str | None = None,
        sender_name: str | None = None,
        reference: str | None = None,
        metadata: dict | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Build the unsigned transaction of a crypto tip.

        creator_id: User id (UUID, also with prefix auth_), wallet address, Twitter handle (with or without @), Discord handle or .sol domain
        amount: Token amount in human-readable units; ignored with amountUsd
        amount_usd: USD amount; converted at the live price
        token_symbol: Display symbol; does not affect routing
        message: Supporter message, kept to 500 characters. It is the tip's: no later report changes it
        sender_name: The supporter's name for the creator, kept to 100 characters. The sender stays the wallet
        reference: Your own name for the payment, such as an order number: at most 64 characters. It need not be unique
        metadata: Up to 20 texts, numbers or booleans, 2048 bytes of JSON
        idempotency_key: Makes a repetition within 24 hours answer what the first request was answered
        """
        return self._call(
            "POST",
            "/payments/intent",
            body={
                "creatorId": creator_id,
                "inputTokenMint": input_token_mint,
                "sourceWalletAddress": source_wallet_address,
                "amount": amount,
                "amountUsd": amount_usd,
                "tokenSymbol": token_symbol,
                "message": message,
                "senderName": sender_name,
                "reference": reference,
                "metadata": metadata,
            },
            headers={
                "Idempotency-Key": idempotency_key,
            },
        )

    def create_fiat_intent(
        self,
        *,
        creator_id: str,
        amount: float,
        amount_ngn: float | None = None,
        sender_name: str | None = None,
        payer_email: str | None = None,
        collection: str | None = None,
        language: str | None = None,
        memo: str | None = None,
        is_anonymous: bool | None = None,
        reference: str | None = None,
        metadata: dict | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Ask for a tip in NGN: a checkout page or a bank account to transfer to.

        creator_id: User id (UUID, also with prefix auth_), wallet address or .sol domain
        amount: USD; rounded half up to the cent
        amount_ngn: The charge in NGN instead of the converted amount
        sender_name: Default Anonymous
        payer_email: For the receipt
        collection: A bank account to transfer to, also where the creator takes the checkout page
        language: In which the payer is written to; else English
        memo: Message to the creator, kept to 500 characters
        is_anonymous: Name and e-mail are withheld from the creator
        reference: Your own name for the payment, such as an order number: at most 64 characters. It need not be unique
        metadata: Up to 20 texts, numbers or booleans, 2048 bytes of JSON
        idempotency_key: Makes a repetition within 24 hours answer what the first request was answered
        """
        return self._call(
            "POST",
            "/payments/fiat/intent",
            body={
                "creatorId": creator_id,
                "amount": amount,
                "amountNgn": amount_ngn,
                "senderName": sender_name,
                "payerEmail": payer_email,
                "collection": collection,
                "language": language,
                "memo": memo,
                "isAnonymous": is_anonymous,
                "reference": reference,
                "metadata": metadata,
            },
            headers={
                "Idempotency-Key": idempotency_key,
            },
        )

    def get_fiat_status(
        self,
        *,
        intent_id: str,
    ) -> dict[str, Any]:
        """How a fiat tip stands; suggested every 5 to 10 seconds."""
        return self._call(
            "GET",
            "/payments/fiat/status",
            query={
                "intentId": intent_id,
            },
        )

    def get_fiat_rate(
        self,
        *,
        amount: float | None = None,
    ) -> dict[str, Any]:
        """What a tip in USD would charge in NGN now.

        amount: USD, default 1
        """
        return self._call(
            "GET",
            "/payments/fiat/rate",
            query={
                "amount": amount,
            },
        )

    def record_tip(
        self,
        *,
        creator_wallet: str,
        tip_amount: float,
        sender_wallet: str,
        tx_signature: str,
        message: str | None = None,
        token_symbol: str | None = None,
        intent_id: str | None = None,
    ) -> dict[str, Any]:
        """Record a submitted tip, once per transaction signature.

        tip_amount: Raw base units; for tokens other than SOL a decimal is taken as display units
        message: Supporter message, kept to 500 characters
        token_symbol: Default SOL
        intent_id: The intent this transaction was issued for: ties the message to it
        """
        return self._call(
            "POST",
            "/chain/tips/create",
            body={
                "creatorWallet": creator_wallet,
                "tipAmount": tip_amount,
                "senderWallet": sender_wallet,
                "txSignature": tx_signature,
                "message": message,
                "tokenSymbol": token_symbol,
                "intentId": intent_id,
            },
        )

    def list_events(
        self,
        *,
        after: int | None = None,
        types: str | None = None,
        limit: int | None = None,
        wait: int | None = None,
    ) -> dict[str, Any]:
        """The events of the own account after a sequence number, oldest first.

        after: The `sequence` of the last event handled, or `after` of the last answer, which may be later; 0: from the beginning
        types: Types separated by commas, such as `tip.confirmed,withdrawal.*`; absent: all
        limit: 1 to 100, default 50
        wait: Seconds to wait for an event when there is none, at most 30
        """
        return self._call(
            "GET",
            "/creators/events",
            "key",
            query={
                "after": after,
                "types": types,
                "limit": limit,
                "wait": wait,
            },
        )

    def create_sdk_session(
        self,
        *,
        creator_id: str,
        origin_url: str,
        theme: str | None = None,
        reference: str | None = None,
        metadata: dict | None = None,
    ) -> dict[str, Any]:
        """Open an SDK session for an embed on one of the own sites.

        creator_id: User id (UUID, also with prefix auth_), wallet address or .sol domain
        origin_url: URL of the embedding page; `localhost` and `127.0.0.1`, with or without a port, need no scheme
        reference: Your own name for the payment, such as an order number: at most 64 characters. It need not be unique
        metadata: Up to 20 texts, numbers or booleans, 2048 bytes of JSON
        """
        return self._call(
            "POST",
            "/sdk/init",
            "key",
            body={
                "creatorId": creator_id,
                "originUrl": origin_url,
                "theme": theme,
                "reference": reference,
                "metadata": metadata,
            },
        )

    def list_tip_events(
        self,
        *,
        creator_id: str,
        since: str | None = None,
        before: str | None = None,
    ) -> dict[str, Any]:
        """The newest 50 confirmed tips of the own account between two moments.

        since: Only events after this moment; RFC 3339, without an offset UTC
        before: Only events before this moment: pages back
        """
        return self._call(
            "GET",
            "/sdk/events",
            "key",
            query={
                "creatorId": creator_id,
                "since": since,
                "before": before,
            },
        )

    def create_webhook(
        self,
        *,
        url: str,
        types: list | None = None,
        description: str | None = None,
    ) -> dict[str, Any]:
        """Make a webhook; its secret is shown this once, and a ping follows.

        types: The types that are sent; empty or absent: all
        """
        return self._call(
            "POST",
            "/creators/webhooks",
            "session",
            body={
                "url": url,
                "types": types,
                "description": description,
            },
        )

    def list_webhooks(
        self,
    ) -> dict[str, Any]:
        """The webhooks, oldest first, each with its last delivery."""
        return self._call(
            "GET",
            "/creators/webhooks",
            "session",
        )

    # Made from the OpenAPI document: end


def _answer_of(status: int, request_id: str | None, text: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        if status == 200 and answer.get("success") is True:
            return answer
        if "error" in answer and "code" in answer:
            details = answer.get("details", ())
            raise TippingError(answer["error"], answer["code"], status, request_id, details)
    text_of_error = f"an answer of status {status} that is not the service's"
    raise TippingError(text_of_error, "bad_answer", status, request_id)
