import { setTimeout as sleep } from "node:timers/promises";
import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import {
  describeHeld,
  describeInstead,
  enforced,
  holdsTags,
  type HoldingPolicy,
  hurrySignatures,
  isForNow,
  type JudgedState,
  lastPassing,
  type SignatureVerdict,
} from "../../trust/index.ts";
import { isDigest } from "../digests.ts";
import { RegistryError } from "../errors.ts";
import type { FetchedSignatures } from "../other-registries.ts";
import type { Exchange } from "../request.ts";
import { type Answerable, type Judged, scanOf } from "./gate.ts";

/** What policies of signatures say of a pull. `instead`: the digest that is answered in place of the one asked for. */
interface JudgedSignatures extends Judged {
  instead?: string;
  /** By what an answer that these policies have nothing to say of can be sent again. */
  judged?: JudgedState;
}

/** For so long a pull waits for signatures that are not verified yet. */
const WAIT_MS = 2_000;
const LOOK_EVERY_MS = 100;
/** Beyond so many pulls that wait in this process, others are answered immediately. */
const MAX_WAITING = 200;
/** When a client that was rejected only for now is to ask again, in seconds. */
const RETRY_AFTER_S = 5;

const NOTHING_HELD: SignatureVerdict = { holding: [], waiting: [] };

let waiting = 0;

/**
 * Has the policies of signatures of the repo's groups judge a pull. Undefined when none is for pulls; otherwise the
 * answer depends on more than the tables of the registry. Throws DENIED when a policy blocks the image, or
 * UNAVAILABLE with a Retry-After when it does so only until signatures are verified; in preview the pull is only noted.
 * Answered are scanners, which must read what they scan, and whoever holds CAP_UNSIGNED_READ there, with a warning:
 * programs that sign read the image first, with a token that is for pulling alone. Where all of these policies hold
 * tags, a tag is answered with the last image that it pointed to and that passes, with a warning.
 */
export async function judgeSignatures(
  exchange: Exchange,
  { repo, reference }: { repo: string; reference: string },
  pulled: Answerable,
): Promise<JudgedSignatures | undefined> {
  // Most installations have no policy, which is known without another read.
  if (pulled.signing === null) return undefined;
  if (scanOf(exchange.caller) !== undefined) return { warning: "" };
  const { deps, name } = exchange;
  const image = {
    repo,
    digest: pulled.digest,
    mediaType: pulled.media_type,
    content: pulled.content,
    indexes: indexesFromSource(exchange, repo, pulled.digest),
  };
  const judgeNow = (): Promise<SignatureVerdict | undefined> =>
    deps.transactor.read({ ...exchange.callData, nowMs: deps.clock.nowMs() }, (call) => deps.judgeSigned(call, image));
  let verdict = await judgeNow();
  if (verdict === undefined) return undefined;
  const mayRead = await readsUnsigned(exchange, repo, verdict);
  const waits = (): boolean => !mayRead && isForNow(enforced(verdict?.holding ?? []));
  if (!mayRead && enforced(verdict.holding).length > 0 && !waits()) {
    const fetched = await fetchSignatures(exchange, repo, pulled.digest);
    if (fetched !== undefined) verdict = (await judgeNow()) ?? NOTHING_HELD;
    if (fetched !== undefined && fetched.problem !== "" && enforced(verdict.holding).length > 0 && !waits())
      throw notFetched(name, pulled.digest, fetched.problem);
  }
  if (waits()) verdict = (await waitFor(exchange, repo, verdict, judgeNow)) ?? verdict;
  const { holding } = verdict;
  const held = enforced(holding);
  const isRejected = held.length > 0 && !mayRead;
  const tag = isDigest(reference) ? "" : reference;
  if (holding.length > 0 && !(mayRead && held.length > 0))
    deps.signatureNotes.note(exchange.callData, {
      repo,
      digest: pulled.digest,
      tag,
      action: "pull",
      isRejected,
      holding,
    });
  if (isRejected) {
    const instead = holdsTags(held) ? await earlierOf(exchange, { repo, tag, digest: pulled.digest }) : undefined;
    if (instead === undefined) throw signatureDenied(name, pulled.digest, held);
    return { warning: describeInstead(tag, instead, describeHeld(pulled.digest, held)), instead };
  }
  const { judged } = verdict;
  if (holding.length === 0) return { warning: "", ...(judged !== undefined && { judged }) };
  return { warning: held.length === 0 ? "" : describeHeld(pulled.digest, held) };
}

/** The digest that pulls of a tag are answered with whose policies hold it. */
async function earlierOf(
  { deps, callData }: Exchange,
  { repo, tag, digest }: { repo: string; tag: string; digest: string },
): Promise<string | undefined> {
  if (tag === "") return undefined;
  const data = { ...callData, nowMs: deps.clock.nowMs() };
  return await deps.transactor.read(data, (call) => lastPassing(call, deps.judgeSigned, { repo, tag, digest }));
}

/** Whether the caller is answered what a policy blocks. Looked up only where one does. */
async function readsUnsigned(
  { deps, callData }: Exchange,
  repo: string,
  { holding }: SignatureVerdict,
): Promise<boolean> {
  if (enforced(holding).length === 0) return false;
  return await deps.transactor.read(callData, async (call: Call) => await call.may(Capability.CAP_UNSIGNED_READ, repo));
}

/** Has what waits verified before all others, and looks again for two seconds at most. */
async function waitFor(
  { deps, callData, data }: Exchange,
  repo: string,
  { waiting: digests }: SignatureVerdict,
  judgeNow: () => Promise<SignatureVerdict | undefined>,
): Promise<SignatureVerdict | undefined> {
  if (waiting >= MAX_WAITING || digests.length === 0) return undefined;
  waiting += 1;
  data.turn?.end();
  try {
    await deps.transactor.write(hurrySignatures, callData, { repo, digests: [...digests] });
    let verdict: SignatureVerdict | undefined;
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs -= LOOK_EVERY_MS) {
      await sleep(LOOK_EVERY_MS);
      verdict = await judgeNow();
      if (verdict === undefined || !isForNow(enforced(verdict.holding))) break;
    }
    return verdict ?? NOTHING_HELD;
  } finally {
    waiting -= 1;
  }
}

/** Has the signatures fetched from the source of the repo. Undefined when it has none. */
async function fetchSignatures(
  { deps, data }: Exchange,
  repo: string,
  digest: string,
): Promise<FetchedSignatures | undefined> {
  if (deps.upstream === undefined) return undefined;
  data.turn?.end();
  return await deps.upstream.signatures(repo, digest);
}

function indexesFromSource({ deps }: Exchange, repo: string, digest: string) {
  return (deps.upstream?.indexesOf(repo, digest) ?? []).map((each) => ({
    digest: each.digest,
    mediaType: each.manifest.mediaType,
    content: each.content,
  }));
}

/** Not signed as far as is known here, and what is there was not fetched. */
function notFetched(name: string, digest: string, problem: string): RegistryError {
  return new RegistryError(
    "DENIED",
    `Unavailable: It is not known whether ${digest} is signed as policies ask: its signatures were not fetched: ${problem}`,
    {
      status: 503,
      isRejection: true,
      headers: { "retry-after": String(RETRY_AFTER_S) },
      details: {
        metadata: { repository: name, digest, reason: NOT_KNOWN_YET },
        retryAfterMs: RETRY_AFTER_S * 1_000,
      },
    },
  );
}

const NOT_KNOWN_YET = "SIGNATURE_POLICY: signatures are not verified yet";
const NOT_SIGNED = "SIGNATURE_POLICY: the image is not signed";

/** The error for an image that policies block: 403, or 503 with a Retry-After until signatures are verified. */
export function signatureDenied(name: string, digest: string, held: readonly HoldingPolicy[]): RegistryError {
  const forNow = isForNow(held);
  const metadata = {
    repository: name,
    digest,
    policies: held.map(({ uid }) => uid).join(","),
    // For the audit log, whose reasons have no text of signatures.
    reason: forNow ? NOT_KNOWN_YET : NOT_SIGNED,
  };
  const detail = {
    repository: name,
    digest,
    policies: held.map(({ uid, name: policy, reason }) => ({ uid, name: policy, reason })),
  };
  const words = describeHeld(digest, held);
  if (!forNow)
    return new RegistryError("DENIED", `Permission denied: ${words}`, {
      detail,
      isRejection: true,
      details: { metadata },
    });
  return new RegistryError("DENIED", `Unavailable: ${words}`, {
    status: 503,
    detail,
    isRejection: true,
    headers: { "retry-after": String(RETRY_AFTER_S) },
    details: { metadata, retryAfterMs: RETRY_AFTER_S * 1_000 },
  });
}
