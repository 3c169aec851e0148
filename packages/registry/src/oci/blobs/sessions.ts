import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Statement, statement } from "@moorage/kernel/store";
import { quotasAbove, type SpaceLeft, spaceLeft } from "../../registry/index.ts";
import { RegistryError } from "../errors.ts";
import { renewUpload } from "../gc/grace-commands.ts";
import { PUSH, repositoryFor } from "../names.ts";
import type { Exchange } from "../request.ts";
import { endUpload, startUpload } from "./commands.ts";
import { beginningOf, newUpload, openUpload, signUpload } from "./upload-ids.ts";

/** An upload that a client began. */
export interface Session {
  /** The id that the client sends. */
  id: string;
  /** How the blob store and the database name it. */
  upload: string;
  /** The uid of its repo. */
  repo: string;
  /** Whether anything is stored of it: a row, and the bytes of chunks. */
  isStored: boolean;
  /** What is left of the quotas above the repo; undefined where there is none. */
  left?: SpaceLeft | undefined;
  /** Whether the id alone is enough to go on, so that it must be noted when the upload has ended. */
  isSigned: boolean;
}

const SESSION =
  "select (select update_time from uploads where uid = ? and repo = ? and identity = ?) as update_time, (select uid from ended_uploads where uid = ?) as ended";
interface SessionRow {
  update_time: number | null;
  ended: string | null;
  quotas: number;
}
/** By the number of parameters, which is another one for each depth of groups. */
const selectSession: Statement<SessionRow>[] = [];
// Before ids were signed, each upload had a row.
const UNSIGNED = /^[0-9a-f]{32}$/;

/** Begins an upload to the repo. Nothing is stored of it until its first bytes arrive. */
export function beginSession({ deps, callData }: Exchange, repo: string): Session {
  const upload = newUpload(callData.nowMs);
  const id = signUpload(deps.pageTokenKey, upload, { repo, identity: callData.caller.identity });
  return { id, upload, repo, isStored: false, isSigned: true };
}

/**
 * The upload with the id. Throws BLOB_UPLOAD_UNKNOWN unless it belongs to this repo and this identity, has not ended,
 * and received bytes in the last `uploadTtlMs`, or began in them. `digest`: of the content, where it is known.
 */
export async function openSession(exchange: Exchange, id: string, digest: string | null): Promise<Session> {
  const { deps, callData, name } = exchange;
  const { nowMs } = callData;
  const { uploadTtlMs } = deps.config;
  const found = await deps.transactor.read(callData, async (call) => {
    const repo = await repositoryFor(call, name, ...PUSH);
    const { identity } = call.caller;
    const signed = openUpload(deps.pageTokenKey, id, { repo, identity });
    const upload = signed ?? (UNSIGNED.test(id) ? id : undefined);
    if (upload === undefined) return undefined;
    const quotas = quotasAbove(repo);
    const parameters = [upload, repo, identity, upload, ...quotas.parameters];
    const select = (selectSession[parameters.length] ??= statement<SessionRow>(
      `${SESSION}, ${quotas.text} as quotas`,
      parameters.map(() => "text"),
    ));
    const [row] = await select(call.tx, ...parameters);
    const { update_time: updateMs = null, ended = null } = row ?? {};
    const left = Number(row?.quotas ?? 0) === 0 ? undefined : await spaceLeft(call, repo, digest);
    const session = { id, upload, repo, left, isStored: updateMs !== null, isSigned: signed !== undefined };
    if (updateMs !== null) return { session, updateMs };
    return ended !== null || signed === undefined || nowMs - beginningOf(upload) > uploadTtlMs
      ? undefined
      : { session, updateMs: nowMs };
  });
  if (found === undefined) throw uploadUnknown(id);
  // A session renewed in time protects the content of its repo from garbage collection for as long as the push takes.
  if (nowMs - found.updateMs > uploadTtlMs / 2)
    await deps.transactor.write(renewUpload, callData, { upload: found.session.upload });
  return found.session;
}

/**
 * Stores an upload of which nothing is stored yet, so that it can receive chunks, from any process. From then on it
 * protects the content of its repo from garbage collection, as of when it began. Throws BLOB_UPLOAD_UNKNOWN when it has
 * ended in the meantime.
 */
export async function storeSession({ deps, callData }: Exchange, session: Session): Promise<void> {
  const { id, upload, repo, isStored } = session;
  if (isStored) return;
  // The row comes last, so that whoever finds it finds the rest as well.
  await deps.blobs.startUpload(upload).catch((error: unknown) => {
    if (!(error instanceof MoorageError) || error.code !== Code.AlreadyExists) throw error;
  });
  const beganMs = beginningOf(upload);
  if ((await deps.transactor.write(startUpload, callData, { repo, upload, beganMs })).isOpen) return;
  await deps.blobs.removeUpload(upload);
  throw uploadUnknown(id);
}

/** Ends an upload without a blob: what is stored of it is removed, and its id is unknown from then on. */
export async function endSession({ deps, callData }: Exchange, { upload, isSigned }: Session): Promise<void> {
  await deps.transactor.write(endUpload, callData, { upload, isSigned });
  await deps.blobs.removeUpload(upload);
}

export function uploadUnknown(id: string): RegistryError {
  return new RegistryError("BLOB_UPLOAD_UNKNOWN", "Upload not found", { detail: { upload: id } });
}
