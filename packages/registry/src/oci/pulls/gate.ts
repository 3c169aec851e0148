import { Capability } from "@moorage/api/messages";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import {
  describePassed,
  describeVerdict,
  type Gate,
  type GateVerdict,
  isForNow,
  isRecorded,
  policyOf,
  verdictBody,
} from "../../registry/index.ts";
import { isDigest } from "../digests.ts";
import { RegistryError } from "../errors.ts";
import { type Exchange, tokenCovers } from "../request.ts";
import type { Pulled } from "./pulled-manifest.ts";

/**
 * A manifest that is to be answered. `policy`, `deprecation`: the texts of those of the repo; undefined when they were
 * not read, as for `signing`.
 */
export interface Answerable extends Omit<Pulled, "policy" | "deprecation" | "signing"> {
  policy?: string | null | undefined;
  deprecation?: string | null | undefined;
  signing?: number | null | undefined;
}

const selectPolicy = statement<{ policy: string | null }>("select tag_policy as policy from repos where uid = ?", [
  "text",
]);

/** What a gate for pulls says of a pull that it lets pass: `warning` is what it does not know, or empty. */
export interface Judged {
  warning: string;
}

/**
 * Has the repo's vulnerability gate judge a pull. Undefined when it has none for pulls; otherwise the answer depends on
 * more than the tables of the registry. Throws DENIED when the gate rejects the pull, or TOOMANYREQUESTS with a
 * Retry-After when it does so only until the image has been read; in preview the pull is only noted. Not judged are
 * scanners, which must read what they scan, and a HEAD of a client whose token is for pushing: it asks what is there
 * before it pushes something better.
 */
export async function judgePull(
  exchange: Exchange,
  { repo, reference }: { repo: string; reference: string },
  pulled: Answerable,
): Promise<Judged | undefined> {
  const { deps, callData } = exchange;
  // Most repos have no policy, which is known without another read.
  if (pulled.policy === null) return undefined;
  const read = <T>(work: (call: Call) => Promise<T>): Promise<T> => deps.transactor.read(callData, work);
  const policy = pulled.policy ?? (await read(async ({ tx }) => (await selectPolicy(tx, repo))[0]?.policy ?? null));
  const gate = pullGateOf(policy);
  if (gate === undefined) return undefined;
  if (scanOf(exchange.caller) !== undefined) return { warning: "" };
  const verdict = await read(async (call) => {
    if (await isBeforePush(exchange, call, repo)) return undefined;
    const { digest, media_type: mediaType, content } = pulled;
    return deps.judgePull(call.tx, { repo, digest, mediaType, content }, gate, call.nowMs);
  });
  if (verdict === undefined) return { warning: "" };
  if (isRecorded(verdict)) keepBack(exchange, gate, { repo, reference, digest: pulled.digest }, verdict);
  return { warning: describePassed(pulled, verdict) };
}

/** The gate that judges pulls from a repo with this policy; undefined when it has none. */
export function pullGateOf(policy: string | null): Gate | undefined {
  const { gate } = policyOf(policy);
  return gate?.onPull === true ? gate : undefined;
}

/**
 * The uid of the scan that the token was made for; undefined for other tokens. One that was exchanged for a token of
 * another issuer has claims of that.
 */
export function scanOf({ act = {} }: Caller): string | undefined {
  const { scan, iss } = act;
  return typeof scan === "string" && iss === undefined ? scan : undefined;
}

/** Whether a client asks by HEAD, with a token for pushing, what is there before it pushes something better. */
export async function isBeforePush({ req, caller, name }: Exchange, call: Call, repo: string): Promise<boolean> {
  return (
    req.method === "HEAD" &&
    tokenCovers(caller, name, ["push"]) &&
    (await call.may(Capability.CAP_MANIFEST_CREATE, repo))
  );
}

function keepBack(
  { deps, callData, name }: Exchange,
  { enforces }: Gate,
  { repo, reference, digest }: { repo: string; reference: string; digest: string },
  verdict: GateVerdict,
): void {
  const tag = isDigest(reference) ? "" : reference;
  const isRejected = enforces && verdict.holds;
  deps.gateNotes.note(callData, { repo, digest, tag, action: "pull", isRejected, verdict });
  if (isRejected) throw gateDenied(name, digest, verdict);
}

const NOT_KNOWN = "VULNERABILITY_GATE: it is not known what the image holds";
const NOT_KNOWN_YET = "VULNERABILITY_GATE: it is not known yet what the image holds";

/** When a client that was rejected only for now is to ask again, in seconds: most images are read within that time. */
const RETRY_AFTER_S = 5;

/**
 * The error for an image that a gate does not let be pulled: 403, or 429 with a Retry-After when it may pass as soon as
 * it has been read. Of the answers that say "later", clients show the text of this one and not that of a 503, and the
 * most of them wait and ask again by themselves.
 */
export function gateDenied(name: string, digest: string, verdict: GateVerdict): RegistryError {
  const { count, unknown } = verdict;
  const metadata = {
    repository: name,
    digest,
    findings: String(count),
    ...(unknown.length > 0 && {
      unknown: unknown.map(({ reason }) => reason).join("; "),
      state: unknown.some(({ state }) => state === "NOT_READ") ? "NOT_READ" : "NO_DATA",
    }),
    // For the audit log, whose reasons have no text of images.
    ...(count === 0 && { reason: isForNow(verdict) ? NOT_KNOWN_YET : NOT_KNOWN }),
  };
  const options = { detail: { repository: name, digest, ...verdictBody(verdict) }, isRejection: true };
  const message = `Permission denied: ${describeVerdict({ digest }, verdict)}`;
  if (!isForNow(verdict)) return new RegistryError("DENIED", message, { ...options, details: { metadata } });
  return new RegistryError("TOOMANYREQUESTS", message, {
    ...options,
    headers: { "retry-after": String(RETRY_AFTER_S) },
    details: { metadata, retryAfterMs: RETRY_AFTER_S * 1_000 },
  });
}
