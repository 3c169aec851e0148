import { UpstreamError } from "../mirroring/index.ts";
import { rejection } from "./errors.ts";
import type { Exchange, Received } from "./exchange.ts";

/** A blob to be sent, in parts. */
export interface LocalBlob {
  digest: string;
  size: number;
  /** Reads so many bytes from the offset on. */
  read(offset: number, length: number): Promise<Buffer>;
}

/** How a blob is sent. */
export interface Sending {
  exchange: Exchange;
  name: string;
  /** Where an earlier attempt left off; undefined for nowhere. */
  resume: string | undefined;
  /** Notes where this attempt can be resumed. */
  note(location: string): Promise<void>;
  /** Waits until so many bytes may be sent, and counts them. */
  take(bytes: number, touch: () => void): Promise<void>;
  signal: AbortSignal;
}

/** A blob of at most this size is sent in one request; a larger one in parts of it. */
export const PART_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 16 * 1024;
const MAX_FAILURES = 3;

/** Sends a blob that the destination lacks. An upload that broke off goes on where it was. */
export async function sendBlob(sending: Sending, blob: LocalBlob): Promise<void> {
  if (blob.size <= PART_BYTES) return await sendWhole(sending, blob);
  let place = await placeOf(sending, sending.resume, blob);
  for (let failures = 0; place.offset < blob.size;) {
    const before = place.offset;
    try {
      place = await sendPart(sending, blob, place);
    } catch (error) {
      failures += 1;
      const isPassing = error instanceof UpstreamError && error.kind === "unreachable";
      if (!isPassing || failures >= MAX_FAILURES || sending.signal.aborted) throw error;
      place = await placeOf(sending, place.location, blob);
    }
    if (place.offset > before) failures = 0;
  }
  await finish(sending, blob, place.location, 0);
}

interface Place {
  location: string;
  offset: number;
}

async function sendWhole(sending: Sending, blob: LocalBlob): Promise<void> {
  await finish(sending, blob, await begin(sending), blob.size);
}

async function begin({ exchange, name, signal }: Sending): Promise<string> {
  const target = `/v2/${name}/blobs/uploads/`;
  const answer = await exchange.send({ method: "POST", target, length: 0, signal });
  if (answer.status !== 202) throw rejection(answer.status, answer.headers, "to begin an upload", exchange.nowMs());
  return locationOf(exchange, answer, undefined);
}

/** Where an upload is that began before, or a new one. */
async function placeOf(sending: Sending, location: string | undefined, { size }: LocalBlob): Promise<Place> {
  const { exchange, signal } = sending;
  if (location !== undefined) {
    const answer = await exchange.send({ method: "GET", target: location, signal });
    const [, end] = /^(?:bytes=)?0-(\d{1,15})$/.exec(String(answer.headers["range"] ?? "")) ?? [];
    // An upload without bytes says 0-0 or 0--1 or nothing: then it is as well to begin anew.
    const offset = Number(end ?? 0) + 1;
    if (answer.status === 204 && end !== undefined && offset > 1 && offset <= size)
      return { location: locationOf(exchange, answer, location), offset };
  }
  const begun = await begin(sending);
  await sending.note(begun);
  return { location: begun, offset: 0 };
}

async function sendPart(sending: Sending, blob: LocalBlob, { location, offset }: Place): Promise<Place> {
  const { exchange, signal } = sending;
  const bytes = await blob.read(offset, Math.min(PART_BYTES, blob.size - offset));
  const answer = await exchange.send({
    method: "PATCH",
    target: location,
    headers: {
      "content-type": "application/octet-stream",
      "content-range": `${offset}-${offset + bytes.length - 1}`,
    },
    length: bytes.length,
    body: (touch) => pieces(sending, bytes, touch),
    signal,
  });
  if (answer.status !== 202 && answer.status !== 204)
    throw rejection(answer.status, answer.headers, "to take a part of a blob", exchange.nowMs());
  return { location: locationOf(exchange, answer, location), offset: offset + bytes.length };
}

async function finish(sending: Sending, blob: LocalBlob, location: string, length: number): Promise<void> {
  const { exchange, signal } = sending;
  const url = new URL(location, exchange.origin);
  url.searchParams.set("digest", blob.digest);
  const bytes = length === 0 ? undefined : await blob.read(0, length);
  const answer = await exchange.send({
    method: "PUT",
    target: url.href,
    headers: { "content-type": "application/octet-stream" },
    length,
    ...(bytes !== undefined && { body: (touch: () => void) => pieces(sending, bytes, touch) }),
    signal,
  });
  if (answer.status !== 201 && answer.status !== 204)
    throw rejection(answer.status, answer.headers, `to take the blob ${blob.digest}`, exchange.nowMs());
}

async function* pieces(sending: Sending, bytes: Buffer, touch: () => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    await sending.take(piece.length, touch);
    yield piece;
  }
}

function locationOf(exchange: Exchange, { headers }: Received, before: string | undefined): string {
  const { location } = headers;
  if (typeof location !== "string") {
    if (before !== undefined) return before;
    throw new UpstreamError("wrong", "the destination begins an upload without saying where");
  }
  const url = URL.parse(location, new URL(before ?? "/", exchange.origin).href);
  if (url === null || url.href.length > 8_192)
    throw new UpstreamError("wrong", "the destination begins an upload at something that is not a URL");
  if (url.origin !== exchange.origin)
    throw new UpstreamError("refused", "the destination begins an upload at another host, which is not followed");
  return url.href;
}
