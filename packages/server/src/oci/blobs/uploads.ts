import { randomBytes } from "node:crypto";
import type { Appended, StoredBlob } from "../../blobs/index.ts";
import { Code, MoorageError } from "../../errors.ts";
import { authorize, tokenCovers } from "../request.ts";
import type { Exchange } from "../request.ts";
import { algorithmOf, isDigest, isRepositoryName } from "../digests.ts";
import { RegistryError } from "../errors.ts";
import { PUSH, resolveForPush, repositoryFor } from "../names.ts";
import { resolveRepository } from "../../core/image-path.ts";
import { parseContentRange, uploadRange } from "./ranges.ts";
import { sendEmpty } from "../send.ts";
import { announcedLength, bodyOf, hasBody } from "../body.ts";
import { copyOf, isIntact, settleCopy } from "./copies.ts";
import { commitBlob, dropUploads, ensureRepository, mountBlob, startUpload } from "./commands.ts";
import { renewUpload } from "../gc/grace-commands.ts";

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
    await exchange.deps.transactor.read(exchange.callData, (call) => resolveForPush(call, exchange.name));
    return takeWhole(exchange, digest);
  }
  const repo = await pushTarget(exchange);
  if (mount !== null && from !== null && (await mounted(exchange, mount, from))) return created(exchange, mount);
  if (digest !== null) return takeWhole(exchange, digest);
  const upload = newUploadId();
  await exchange.deps.transactor.write(startUpload, exchange.callData, { repo, upload });
  await exchange.deps.blobs.startUpload(upload);
  answerProgress(exchange, upload, 202, 0);
}

/**
 * GET, PATCH, PUT and DELETE of `/v2/<name>/blobs/uploads/<id>`. Source: OCI distribution v1.1 end-5, end-6, end-13,
 * end-14.
 */
export async function handleUpload(exchange: Exchange, params: { upload: string }): Promise<void> {
  const { req, deps } = exchange;
  const { upload } = params;
  const digest = exchange.query.get("digest");
  await authorize(exchange, ["push"]);
  await requireSession(exchange, upload);
  switch (req.method) {
    case "PATCH":
      answerProgress(exchange, upload, 202, (await takeChunk(exchange, upload)).size);
      return;
    case "PUT":
      requireDigest(digest);
      await complete(exchange, upload, digest, async () => {
        // A request without a body may still carry a Content-Range that must be checked.
        if (!hasBody(req) && req.headers["content-range"] === undefined) return deps.blobs.finish(upload, digest);
        return (await takeChunk(exchange, upload, digest)).blob;
      });
      return;
    case "DELETE":
      await deps.transactor.write(dropUploads, exchange.callData, { uploads: [upload] });
      await deps.blobs.removeUpload(upload);
      sendEmpty(exchange, 204, {});
      return;
    default:
      answerProgress(exchange, upload, 204, await mapUnknownUpload(upload, deps.blobs.uploadSize(upload)));
  }
}

/** The uid of the repo to push to, which is created when it is missing and the caller may create it. */
async function pushTarget(exchange: Exchange): Promise<string> {
  const { deps, callData, name } = exchange;
  const found = await deps.transactor.read(callData, async (call) => {
    const { repo } = await resolveRepository(call, name);
    return repo === undefined ? undefined : repositoryFor(call, name, ...PUSH);
  });
  return found ?? (await deps.transactor.write(ensureRepository, callData, { name })).repo;
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

/** Takes a blob in one request. It needs no session, since such an upload cannot be resumed. */
async function takeWhole(exchange: Exchange, digest: string): Promise<void> {
  const { blobs } = exchange.deps;
  const upload = newUploadId();
  await blobs.startUpload(upload);
  try {
    const options = {
      algorithm: algorithmOf(digest),
      length: announcedLength(exchange.req),
      givesChunks: true,
      finishAs: digest,
    };
    const store = async (): Promise<StoredBlob | undefined> =>
      (await blobs.append(upload, 0, bodyOf(exchange), options).catch(wrongLength)).blob;
    await complete(exchange, upload, digest, store, true);
  } catch (error) {
    await blobs.removeUpload(upload);
    throw error;
  }
}

/**
 * Appends the body to the upload, which becomes a blob with it when `digest` is given. Throws 416 with the valid range
 * when the chunk does not begin at the end of the upload.
 */
async function takeChunk(exchange: Exchange, upload: string, digest?: string): Promise<Appended> {
  const { req, deps } = exchange;
  const header = req.headers["content-range"];
  const range = header === undefined ? undefined : parseContentRange(header);
  if (header !== undefined && !range)
    throw new RegistryError("BLOB_UPLOAD_INVALID", "Malformed Content-Range: <first>-<last> is expected");
  const announced = announcedLength(req);
  const length = range ? range.end - range.start + 1 : announced;
  if (announced !== undefined && announced !== length)
    throw new RegistryError("SIZE_INVALID", "Content-Length and Content-Range differ");
  const options = {
    algorithm: digest === undefined ? undefined : algorithmOf(digest),
    length,
    givesChunks: true,
    finishAs: digest,
  };
  const appended = await mapUnknownUpload(
    upload,
    deps.blobs.append(upload, range?.start, bodyOf(exchange), options).catch(wrongLength),
  );
  if (appended.accepted) return appended;
  const { size } = appended;
  const headers = {
    location: uploadLocation(exchange, upload),
    range: uploadRange(size),
    "docker-upload-uuid": upload,
  };
  throw new RegistryError("BLOB_UPLOAD_INVALID", "The chunk does not begin where the upload ends", {
    status: 416,
    headers,
    detail: { size },
  });
}

/** Makes the upload a blob of the repo: first durably in the blob store, by `store`, then in one transaction. */
async function complete(
  exchange: Exchange,
  upload: string,
  digest: string,
  store: () => Promise<StoredBlob | undefined>,
  whole = false,
): Promise<void> {
  const { deps, callData, name } = exchange;
  const { blobs, transactor } = deps;
  const stored = await mapUnknownUpload(upload, store()).catch(async (error: unknown) => {
    if (!(error instanceof MoorageError) || error instanceof RegistryError || error.code !== Code.InvalidArgument)
      throw error;
    await transactor.write(dropUploads, callData, { uploads: [upload] });
    throw new RegistryError("DIGEST_INVALID", "The digest is not that of the content", { detail: { digest } });
  });
  if (stored === undefined) throw new Error("the upload did not become a blob");
  let generation: string;
  try {
    // The blob of a slow client counts as new when it is complete, not when its first byte arrived.
    const now = { ...callData, nowMs: deps.clock.nowMs() };
    ({ generation } = await transactor.write(commitBlob, now, { name, upload, whole, ...stored }));
  } catch (error) {
    // Only these errors mean that nothing was written. After any other error the copy may be in use, so `cleanUploads`
    // removes it later if it is not.
    if (error instanceof MoorageError && REJECTED.includes(error.code)) await blobs.remove(digest, stored.generation);
    throw error;
  }
  await settleCopy(deps, stored, generation);
  created(exchange, digest);
}

const REJECTED: Code[] = [
  Code.NotFound,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.AlreadyExists,
];

/** Throws BLOB_UPLOAD_UNKNOWN unless the session belongs to this repo and this identity. */
async function requireSession(exchange: Exchange, upload: string): Promise<void> {
  const { deps, callData, name } = exchange;
  const found = await deps.transactor.read(callData, async (call) => {
    const repo = await repositoryFor(call, name, ...PUSH);
    return call.tx
      .selectFrom("uploads")
      .select("update_time")
      .where("uid", "=", upload)
      .where("repo", "=", repo)
      .where("identity", "=", call.caller.identity)
      .executeTakeFirst();
  });
  if (!found) throw uploadUnknown(upload);
  // A session renewed in time protects the content of its repo from garbage collection for as long as the push takes.
  if (callData.nowMs - found.update_time > deps.config.uploadTtlMs / 2)
    await deps.transactor.write(renewUpload, callData, { upload });
}

function requireDigest(digest: string | null): asserts digest is string {
  if (digest !== null && isDigest(digest)) return;
  throw new RegistryError("DIGEST_INVALID", "A digest is expected: sha256:<hex> or sha512:<hex>", {
    detail: { digest },
  });
}

function answerProgress(exchange: Exchange, upload: string, status: number, size: number): void {
  sendEmpty(exchange, status, {
    location: uploadLocation(exchange, upload),
    range: uploadRange(size),
    "docker-upload-uuid": upload,
  });
}

function created(exchange: Exchange, digest: string): void {
  const location = `/v2/${exchange.name}/blobs/${digest}`;
  sendEmpty(exchange, 201, { location, "docker-content-digest": digest });
}

/** Turns NOT_FOUND of the blob store into BLOB_UPLOAD_UNKNOWN. */
async function mapUnknownUpload<T>(upload: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof MoorageError && error.code === Code.NotFound && !(error instanceof RegistryError)
      ? uploadUnknown(upload)
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

function uploadUnknown(upload: string): RegistryError {
  return new RegistryError("BLOB_UPLOAD_UNKNOWN", "Upload not found", { detail: { upload } });
}

function uploadLocation(exchange: Exchange, upload: string): string {
  return `/v2/${exchange.name}/blobs/uploads/${upload}`;
}

function newUploadId(): string {
  return randomBytes(16).toString("hex");
}
