import type { Appended, StoredBlob } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { requireTerms } from "@moorage/platform/iam";
import { authorize, tokenCovers } from "../request.ts";
import type { Exchange } from "../request.ts";
import { algorithmOf, isDigest, isRepositoryName } from "../digests.ts";
import { RegistryError } from "../errors.ts";
import { resolveForPush } from "../names.ts";
import { lackOfSpace, noteQuotaRejection, quotaOfError, spaceLeft } from "../../registry/index.ts";
import { parseContentRange, uploadRange } from "./ranges.ts";
import { warningHeader } from "../answers.ts";
import { sendEmpty } from "../send.ts";
import { announcedLength, bodyOf, hasBody } from "../body.ts";
import { copyOf, isIntact, settleCopy } from "./copies.ts";
import { commitBlob, ensureRepository, mountBlob } from "./commands.ts";
import { beginSession, endSession, openSession, type Session, storeSession, uploadUnknown } from "./sessions.ts";

/**
 * POST of `/v2/<name>/blobs/uploads/`: starts a session, takes a whole blob (`digest`), or mounts one (`mount`,
 * `from`). Source: OCI distribution v1.1 end-4, end-11.
 */
export async function handleUploads(exchange: Exchange): Promise<void> {
  await authorize(exchange, ["push"]);
  const { query } = exchange;
  const digest = query.get("digest");
  if (digest !== null) requireDigest(digest);
  const mount = query.get("mount");
  if (mount !== null) requireDigest(mount);
  const from = query.get("from");
  // A repo is created only once the whole blob has arrived and its digest is right. Until then it is checked only that
  // the caller may create it.
  if (digest !== null && (mount === null || from === null)) {
    const lack = await exchange.deps.transactor.read(exchange.callData, async (call) => {
      const { repo, group = "" } = await resolveForPush(call, exchange.name);
      const left = await spaceLeft(call, repo ?? `${group}/`, digest);
      return await lackOfSpace(call, left, announcedLength(exchange.req) ?? 1);
    });
    if (lack !== undefined) throw await noted(exchange, lack);
    return takeWhole(exchange, digest);
  }
  const { repo, lack } = await pushTarget(exchange);
  if (mount !== null && from !== null && (await mounted(exchange, mount, from))) return created(exchange, mount);
  if (digest !== null) return takeWhole(exchange, digest);
  if (lack !== undefined) throw await noted(exchange, lack);
  // A client that hears of it only when it sends the content may not read why.
  await exchange.deps.blobs.requireSpace?.();
  answerProgress(exchange, beginSession(exchange, repo), 202, 0);
}

/**
 * GET, PATCH, PUT and DELETE of `/v2/<name>/blobs/uploads/<id>`. Source: OCI distribution v1.1 end-5, end-6, end-13,
 * end-14.
 */
export async function handleUpload(exchange: Exchange, params: { upload: string }): Promise<void> {
  const { req, deps } = exchange;
  const digest = exchange.query.get("digest");
  await authorize(exchange, ["push"]);
  const session = await openSession(exchange, params.upload, digest);
  const { upload, isStored } = session;
  switch (req.method) {
    case "PATCH":
      await requireSpace(exchange, session);
      await storeSession(exchange, session);
      answerProgress(exchange, session, 202, (await takeChunk(exchange, session)).size);
      return;
    case "PUT":
      requireDigest(digest);
      await requireSpace(exchange, session);
      if (!isStored) return takeWhole(exchange, digest, session);
      await complete(exchange, digest, session, async () => {
        // A request without a body may still carry a Content-Range that must be checked.
        if (!hasBody(req) && req.headers["content-range"] === undefined) return deps.blobs.finish(upload, digest);
        return (await takeChunk(exchange, session, digest)).blob;
      });
      return;
    case "DELETE":
      await endSession(exchange, session);
      sendEmpty(exchange, 204, {});
      return;
    default: {
      const size = isStored ? await mapUnknownUpload(session, deps.blobs.uploadSize(upload)) : 0;
      answerProgress(exchange, session, 204, size);
    }
  }
}

/**
 * The uid of the repo to push to, which is created when it is missing and the caller may create it. `lack`: the error
 * for content that is new there, when nothing is left of a quota.
 */
async function pushTarget(exchange: Exchange): Promise<{ repo: string; lack?: MoorageError | undefined }> {
  const { deps, callData, name } = exchange;
  const found = await deps.transactor.read(callData, async (call) => {
    const { repo } = await resolveForPush(call, name);
    if (repo === undefined) return undefined;
    if (deps.terms.length > 0) await requireTerms(call, deps.terms, "push", [repo]);
    return { repo, lack: await lackOfSpace(call, await spaceLeft(call, repo, null), 1) };
  });
  return found ?? (await deps.transactor.write(ensureRepository, callData, { name }));
}

/**
 * Throws QUOTA_EXCEEDED when what was stored of the upload and what the request brings is more than is left of a quota.
 * The upload ends then, so that nothing stays of it.
 */
async function requireSpace(exchange: Exchange, session: Session): Promise<void> {
  const { left, upload, isStored } = session;
  if (left === undefined) return;
  const stored = isStored ? await mapUnknownUpload(session, exchange.deps.blobs.uploadSize(upload)) : 0;
  const { length = 0 } = chunkOf(exchange);
  const lack = await exchange.deps.transactor.read(exchange.callData, (call) =>
    lackOfSpace(call, left, Math.max(1, stored + length)),
  );
  if (lack === undefined) return;
  await endSession(exchange, session);
  throw await noted(exchange, lack);
}

/** Notes that a quota refused something. Answers the error. */
async function noted({ deps, callData }: Exchange, error: MoorageError): Promise<MoorageError> {
  await deps.transactor.write(noteQuotaRejection, callData, { quota: quotaOfError(error) ?? "" });
  return error;
}

async function mounted(exchange: Exchange, digest: string, from: string): Promise<boolean> {
  const { deps, callData, caller, name } = exchange;
  // A mount that is not possible is no error: the client uploads the blob instead.
  if (!isRepositoryName(from) || !tokenCovers(caller, from, ["pull"])) return false;
  const copy = await deps.transactor.read(callData, (call) => copyOf(call, digest));
  if (copy === undefined || !(await isIntact(deps, digest, copy))) return false;
  const { publicOrganization, freeTierTags } = deps.config;
  const result = await deps.transactor.write(mountBlob, callData, {
    name,
    from,
    digest,
    settings: { publicOrganization, freeTierTags },
  });
  return result.mounted;
}

/**
 * Takes a blob in one request: of an upload of which nothing is stored, or without one. Such an upload cannot be
 * resumed: what arrived before an error is removed.
 */
async function takeWhole(exchange: Exchange, digest: string, session?: Session): Promise<void> {
  const { start = 0, length } = session === undefined ? { length: announcedLength(exchange.req) } : chunkOf(exchange);
  if (session !== undefined && start !== 0) throw outOfPlace(exchange, session, 0);
  const options = { length, givesChunks: true };
  await complete(exchange, digest, session, () =>
    exchange.deps.blobs.store(bodyOf(exchange), digest, options).catch(wrongLength),
  );
}

/**
 * Where the chunk of the request begins, if it says so, and its length in bytes, if it is announced. Throws
 * BLOB_UPLOAD_INVALID and SIZE_INVALID when the headers are malformed or contradict each other.
 */
function chunkOf({ req }: Exchange): { start: number | undefined; length: number | undefined } {
  const header = req.headers["content-range"];
  const range = header === undefined ? undefined : parseContentRange(header);
  if (header !== undefined && !range)
    throw new RegistryError("BLOB_UPLOAD_INVALID", "Malformed Content-Range: <first>-<last> is expected");
  const announced = announcedLength(req);
  const length = range ? range.end - range.start + 1 : announced;
  if (announced !== undefined && announced !== length)
    throw new RegistryError("SIZE_INVALID", "Content-Length and Content-Range differ");
  return { start: range?.start, length };
}

/**
 * Appends the body to the upload, which becomes a blob with it when `digest` is given. Throws 416 with the valid range
 * when the chunk does not begin at the end of the upload.
 */
async function takeChunk(exchange: Exchange, session: Session, digest?: string): Promise<Appended> {
  const { start, length } = chunkOf(exchange);
  const options = {
    algorithm: digest === undefined ? undefined : algorithmOf(digest),
    length,
    givesChunks: true,
    finishAs: digest,
  };
  const appended = await mapUnknownUpload(
    session,
    exchange.deps.blobs.append(session.upload, start, bodyOf(exchange), options).catch(wrongLength),
  );
  if (appended.accepted) return appended;
  throw outOfPlace(exchange, session, appended.size);
}

/** The error for a chunk that does not begin at the end of an upload of so many bytes. */
function outOfPlace(exchange: Exchange, session: Session, size: number): RegistryError {
  return new RegistryError("BLOB_UPLOAD_INVALID", "The chunk does not begin where the upload ends", {
    status: 416,
    headers: progressOf(exchange, session, size),
    detail: { size },
  });
}

/**
 * Makes the content a blob of the repo, and ends its upload if it has one: first durably in the blob store, by `store`,
 * then in one transaction.
 */
async function complete(
  exchange: Exchange,
  digest: string,
  session: Session | undefined,
  store: () => Promise<StoredBlob | undefined>,
): Promise<void> {
  const { deps, callData, name } = exchange;
  const { blobs, transactor } = deps;
  const stored = await mapUnknownUpload(session, store()).catch(async (error: unknown) => {
    if (!(error instanceof MoorageError) || error instanceof RegistryError || error.code !== Code.InvalidArgument)
      throw error;
    if (session !== undefined) await endSession(exchange, session);
    throw new RegistryError("DIGEST_INVALID", "The digest is not that of the content", { detail: { digest } });
  });
  if (stored === undefined) throw new Error("the upload did not become a blob");
  const ending = session && { upload: session.upload, isSigned: session.isSigned };
  let kept: { generation: string; warning: string };
  try {
    // The blob of a slow client counts as new when it is complete, not when its first byte arrived.
    const now = { ...callData, nowMs: deps.clock.nowMs() };
    kept = await transactor.write(commitBlob, now, { name, ending, ...stored });
  } catch (error) {
    // Only these errors mean that nothing was written. After any other error the copy may be in use, so `cleanUploads`
    // removes it later if it is not.
    if (error instanceof MoorageError && REJECTED.includes(error.code)) await blobs.remove(digest, stored.generation);
    throw error;
  }
  await settleCopy(deps, stored, kept.generation);
  created(exchange, digest, kept.warning);
}

const REJECTED: Code[] = [
  Code.NotFound,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.AlreadyExists,
];

function requireDigest(digest: string | null): asserts digest is string {
  if (digest !== null && isDigest(digest)) return;
  throw new RegistryError("DIGEST_INVALID", "A digest is expected: sha256:<hex> or sha512:<hex>", {
    detail: { digest },
  });
}

function answerProgress(exchange: Exchange, session: Session, status: number, size: number): void {
  sendEmpty(exchange, status, progressOf(exchange, session, size));
}

function progressOf({ name }: Exchange, { id }: Session, size: number): Record<string, string> {
  return { location: `/v2/${name}/blobs/uploads/${id}`, range: uploadRange(size), "docker-upload-uuid": id };
}

function created(exchange: Exchange, digest: string, warning = ""): void {
  const location = `/v2/${exchange.name}/blobs/${digest}`;
  sendEmpty(exchange, 201, { location, "docker-content-digest": digest, ...warningHeader(warning) });
}

/** Turns NOT_FOUND of the blob store into BLOB_UPLOAD_UNKNOWN. */
async function mapUnknownUpload<T>(session: Session | undefined, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof MoorageError && error.code === Code.NotFound && !(error instanceof RegistryError)
      ? uploadUnknown(session?.id ?? "")
      : error;
  }
}

function wrongLength(error: unknown): never {
  if (
    error instanceof MoorageError &&
    error.code === Code.InvalidArgument &&
    error.details.fieldViolations?.[0]?.field === "length"
  )
    throw new RegistryError("SIZE_INVALID", "The body is not as long as announced");
  throw error;
}
