import { matchesEtag } from "@moorage/kernel/lib/etags";
import { SMALL_BLOB_BYTES } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { authorize, type Exchange, onlyDigest } from "../request.ts";
import { RegistryError } from "../errors.ts";
import { needsGrace, renewGrace } from "../gc/grace.ts";
import { nameUnknown, pullablePlace } from "../names.ts";
import { blobFromSource } from "../pulls/upstream.ts";
import { answerPull, recordPull } from "../pulls/cache.ts";
import { requireReach } from "../pulls/reach.ts";
import type { Pull } from "../records/batch.ts";
import { isIntact } from "./copies.ts";
import { blobUnknown, findBlob, type RecordedCopy } from "../find-blob.ts";
import { parseRange } from "./ranges.ts";
import { internalPath } from "./internal-path.ts";
import { redirectUrl } from "./redirect.ts";
import { HIT, MISS } from "../pulls/cache-status.ts";
import { begin, sendEmpty } from "../send.ts";
import { responseSink } from "../body.ts";
import { deleteBlob } from "./commands.ts";

// The content of a digest never changes, but the set of callers who may read it does: no shared cache may store it.
const CACHE_CONTROL = "private, max-age=31536000, immutable";

/**
 * GET, HEAD and DELETE of `/v2/<name>/blobs/<digest>`. A GET may be redirected to the blob store. Source: OCI
 * distribution v1.1 end-2 and end-10.
 */
export async function handleBlob(exchange: Exchange, params: { digest: string }): Promise<void> {
  if (exchange.req.method === "DELETE") return handleDelete(exchange, params.digest);
  await sendBlob(exchange, params.digest);
}

// A copy that was found missing or damaged may have been replaced in the meantime, or be fetched from the source.
const MAX_ATTEMPTS = 3;

async function sendBlob(exchange: Exchange, digest: string, attempt = 1): Promise<void> {
  const { req, res, data, deps } = exchange;
  await authorize(exchange, ["pull"], { checksDigest: true });
  let repo = "";
  let isStandIn = false;
  const pull = (): Pull => ({ repository: exchange.name, repo, tag: "", digest, type: "blob" });
  const onAnswered = (bytes: number): void => recordPull(exchange, pull(), exchange.caller, bytes);
  const blob = await deps.transactor.read(exchange.callData, async (call) => {
    const place = await pullablePlace(call, deps.config, exchange.name, { digest });
    if (place.repo === undefined) throw nameUnknown(exchange.name);
    repo = place.repo;
    isStandIn = place.standIn !== undefined;
    await requireReach(exchange, call, repo, digest);
    const found = await findBlob(call, repo, digest);
    return found && { ...found, renews: await needsGrace(exchange, call, repo, found.touch_time) };
  });
  const isHeld = blob !== undefined && (!blob.renews || (await renewGrace(exchange, { repo, digest, kind: "blob" })));
  const isLost = isHeld && needsLook(exchange, digest, blob) && !(await isIntact(deps, digest, blob));
  if (isStandIn) res.setHeader("cache-status", isHeld && !isLost ? HIT : MISS);
  if (!isHeld || isLost) {
    const found = await blobFromSource(exchange, repo, digest);
    // What is known to be damaged may be right the next time it is read: then it is served, and otherwise cut short.
    const mayBeRight = isHeld && req.method === "GET" && blob.suspect_time !== null && attempt === 1;
    if (found === "missing" && !mayBeRight) throw blobUnknown(digest);
    if (typeof found === "number") return onAnswered(found);
    // Another request has just copied it, so it is now served from the local blob store.
    if (found === "copied") {
      if (attempt === MAX_ATTEMPTS) throw blobUnknown(digest);
      return sendBlob(exchange, digest, attempt + 1);
    }
  }
  if (blob === undefined) throw blobUnknown(digest);
  const { size, generation } = blob;
  const etag = `"${digest}"`;
  const headers = {
    "docker-content-digest": digest,
    etag,
    "accept-ranges": "bytes",
    "cache-control": CACHE_CONTROL,
    "x-content-type-options": "nosniff",
  };
  if (matchesEtag(req.headers["if-none-match"], etag)) {
    // The same headers as when the answer is cached.
    sendEmpty(exchange, 304, headers);
    return onAnswered(0);
  }
  const redirect =
    req.method === "GET" && blob.suspect_time === null ? await redirectUrl(exchange, digest, generation) : undefined;
  if (redirect !== undefined) {
    // A client repeats its Range header at the new address, so ranges need no handling here.
    sendEmpty(exchange, 307, { ...headers, location: redirect, "cache-control": "no-store" });
    return onAnswered(size);
  }
  const content = { ...headers, "content-type": "application/octet-stream" };
  const inner = blob.suspect_time === null ? internalPath(exchange, { digest, generation, size }) : undefined;
  if (inner !== undefined) {
    // The proxy reads the Range header itself.
    sendEmpty(exchange, 200, { ...content, "x-accel-redirect": inner });
    return onAnswered(size);
  }
  const ifRange = req.headers["if-range"];
  const asked = req.method === "GET" && (ifRange === undefined || ifRange === etag) ? req.headers.range : undefined;
  const range = parseRange(asked, size);
  if (range === "unsatisfiable") {
    const unsatisfied = { "content-range": `bytes */${size}`, "cache-control": "no-store" };
    throw new RegistryError("RANGE_INVALID", "Range not satisfiable", { headers: unsatisfied });
  }
  const part = range === "whole" ? { start: 0, end: size - 1 } : range;
  const beginPart = (): void => {
    const length = part.end - part.start + 1;
    if (range === "whole") return begin(exchange, 200, content, length);
    begin(exchange, 206, { ...content, "content-range": `bytes ${part.start}-${part.end}/${size}` }, length);
  };
  if (req.method === "HEAD" || size === 0) {
    beginPart();
    res.end();
    return onAnswered(0);
  }
  try {
    if (size <= SMALL_BLOB_BYTES && range === "whole") {
      const body = await deps.blobs.readWhole(digest, generation);
      await noteRight(exchange, digest, blob);
      // A scan may end without a change of the tables that the cache watches.
      const isCacheable = onlyDigest(exchange) === undefined;
      answerPull(exchange, { pull: pull(), headers: content, body, isCacheable });
      return;
    }
    if (size <= SMALL_BLOB_BYTES) {
      const body = await deps.blobs.readWhole(digest, generation);
      beginPart();
      if (data.observed !== undefined) data.observed.sentBytes += part.end - part.start + 1;
      res.end(body.subarray(part.start, part.end + 1));
      return onAnswered(part.end - part.start + 1);
    }
    const sink = responseSink(exchange);
    const take = async (chunk: Buffer): Promise<void> => {
      if (!res.headersSent) beginPart();
      await sink(chunk);
    };
    if (range === "whole") {
      await deps.blobs.readAll({ digest, generation, size }, take);
      await noteRight(exchange, digest, blob);
    } else if (blob.suspect_time !== null) throw blobUnknown(digest);
    // A part cannot be verified by the digest of the whole.
    else await deps.blobs.read(digest, generation, part, take);
    res.end();
    onAnswered(part.end - part.start + 1);
  } catch (error) {
    // The blob was deleted between the look-up and the opening of the file, or its content is lost.
    if (!(error instanceof MoorageError) || (error.code !== Code.NotFound && error.code !== Code.DataLoss)) throw error;
    if (res.headersSent) throw error;
    if (attempt === MAX_ATTEMPTS) throw blobUnknown(digest);
    return sendBlob(exchange, digest, attempt + 1);
  }
}

/**
 * Whether to look at the stored copy before the answer: when no byte of it is read for the answer, or when it is known
 * to be missing or damaged.
 */
function needsLook(exchange: Exchange, digest: string, blob: RecordedCopy): boolean {
  const { req, deps } = exchange;
  if (req.method === "HEAD" || blob.suspect_time !== null || (deps.config.blobsRedirectTtlMs ?? 0) > 0) return true;
  return internalPath(exchange, { ...blob, digest }) !== undefined;
}

/** Notes that a copy was read and verified that was taken for damaged. */
async function noteRight({ deps }: Exchange, digest: string, copy: RecordedCopy): Promise<void> {
  if (copy.suspect_time !== null) await deps.blobs.noted?.({ digest, generation: copy.generation }, "right");
}

async function handleDelete(exchange: Exchange, digest: string): Promise<void> {
  const { deps, name } = exchange;
  await authorize(exchange, ["delete"]);
  const { unused, neededBy } = await deps.transactor.write(deleteBlob, exchange.callData, {
    name,
    digest,
  });
  if (neededBy !== undefined) {
    throw new RegistryError("UNSUPPORTED", "A manifest of the repository needs this blob", {
      headers: { allow: "GET, HEAD" },
      detail: { manifest: neededBy },
    });
  }
  if (unused !== undefined) await deps.blobs.remove(digest, unused);
  sendEmpty(exchange, 202, {});
}
