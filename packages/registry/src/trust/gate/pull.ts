import { SignatureAction } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { createLru } from "@moorage/kernel/lib/lru";
import { embeddedOf } from "@moorage/kernel/store";
import type { ManifestContent } from "../judging/documents.ts";
import { readEvidence } from "../judging/evidence.ts";
import { policiesOf } from "../judging/in-force.ts";
import { holdingPolicies, judge } from "../judging/judge.ts";
import type { Evidence, HoldingPolicy } from "../judging/types.ts";
import { stateOf } from "./state.ts";

/** What policies make of a pull. */
export interface SignatureVerdict {
  /** The policies that block the image, and those that would if they were enforced. */
  holding: readonly HoldingPolicy[];
  /** The manifests whose signatures wait to be looked at or verified. */
  waiting: readonly string[];
  /** By what that is said again without judging; undefined where it is to be judged each time. */
  judged?: JudgedState;
}

/** What an image was judged by. Times are milliseconds since 1970. */
export interface JudgedState {
  /** The text of `stateOf`, which differs when the image may be judged in another way. */
  state: string;
  readMs: number;
  /** When the judgment ends by the time alone. */
  untilMs: number;
  /** `Embedded.commits` before the state was last read, which holds until that differs; undefined on PostgreSQL. */
  commits?: number | undefined;
}

/** An image whose manifest is to be answered. */
interface PulledImage extends ManifestContent {
  repo: string;
  digest: string;
  /** Indexes that name it and came with it from the source of the repo, which need not hold them yet. */
  indexes?: readonly (ManifestContent & { digest: string })[];
}

/**
 * Judges pulls. Undefined where no policy of the repo's groups is for pulls. Costs one statement, unless something has
 * changed that the image is judged by.
 */
export type JudgeSignedPull = (
  call: Pick<Call, "tx" | "nowMs">,
  image: PulledImage,
) => Promise<SignatureVerdict | undefined>;

interface Known extends JudgedState {
  verdict: SignatureVerdict | undefined;
}

const MAX_KNOWN = 10_000;
/** The most manifests that a verdict names as waiting. */
const MAX_WAITING = 50;
// What a state does not see, such as a clock that is set back, counts after this time.
const MAX_AGE_MS = 60_000;

/** The gate of a process: what it has judged is kept in memory, and asked for again when it may have changed. */
export function createSignatureGate(): JudgeSignedPull {
  const memory = createLru<string, Known>(MAX_KNOWN);
  return async ({ tx, nowMs }, image) => {
    // Read first: what changes meanwhile is seen the next time.
    const { hasPolicies, text } = await stateOf(tx, image);
    if (!hasPolicies) return undefined;
    const key = `${image.repo} ${image.digest}`;
    // What comes from a source depends on what came before it.
    const isOwn = (image.indexes ?? []).length === 0;
    const known = isOwn ? memory.get(key) : undefined;
    if (known !== undefined && known.state === text && isCurrent(known, nowMs)) return known.verdict;
    const { verdict, untilMs } = await judgeNow({ tx, nowMs }, image);
    if (text === undefined || !isOwn) return verdict;
    const judged = { state: text, readMs: nowMs, untilMs };
    const kept = verdict && { ...verdict, judged };
    memory.set(key, { verdict: kept, ...judged });
    return kept;
  };
}

/**
 * Whether an image would be judged as it was. Asks the statement that the gate asks before it answers from memory, so
 * that what is kept elsewhere by this is never older than what the gate would say, and asks nothing where it is known
 * that nobody has committed anything since it was asked last.
 */
export async function isJudgedAlike(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  image: Pick<PulledImage, "repo" | "digest">,
  judged: JudgedState,
): Promise<boolean> {
  if (!isCurrent(judged, nowMs)) return false;
  // Before the state is read: what is committed meanwhile is looked at the next time.
  const commits = embeddedOf(tx)?.commits?.();
  if (commits !== undefined && commits === judged.commits) return true;
  if ((await stateOf(tx, image)).text !== judged.state) return false;
  judged.commits = commits;
  return true;
}

function isCurrent({ readMs, untilMs }: JudgedState, nowMs: number): boolean {
  // Calls under way at one time are not answered in the order of their times, and a clock may be set back.
  return Math.abs(nowMs - readMs) < MAX_AGE_MS && nowMs < untilMs;
}

async function judgeNow(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  { repo, digest, mediaType, content, indexes = [] }: PulledImage,
): Promise<{ verdict: SignatureVerdict | undefined; untilMs: number }> {
  const inForce = await policiesOf(tx, repo, nowMs);
  const forPulls = inForce.policies.some(
    ({ actions, problem }) => actions.has(SignatureAction.PULL) || problem !== undefined,
  );
  if (!forPulls) return { verdict: undefined, untilMs: Infinity };
  const given = new Map<string, ManifestContent>(indexes.map((each) => [each.digest, each]));
  given.set(digest, { mediaType, content });
  const evidence = (await readEvidence(tx, { repo, digests: [digest], given }, inForce, nowMs)).get(digest);
  if (evidence === undefined) throw new Error(`nothing was read of ${digest}`);
  const judgment = judge(inForce.policies, evidence, { action: SignatureAction.PULL, nowMs });
  return {
    verdict: { holding: holdingPolicies(judgment), waiting: waitingIn(evidence) },
    untilMs: judgment.untilMs,
  };
}

function waitingIn({ own, indexes, images }: Evidence): string[] {
  return [own, ...indexes, ...images]
    .filter(({ waits, waitsFor }) => waits || waitsFor.size > 0)
    .map(({ digest }) => digest)
    .slice(0, MAX_WAITING);
}
