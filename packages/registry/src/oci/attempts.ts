import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Resolved, resolveRepository } from "@moorage/kernel/core/image-path";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { requireTerms } from "@moorage/platform/iam";
import {
  describeHeld,
  describeInstead,
  enforced,
  holdsTags,
  type JudgeSignedPull,
  lastPassing,
} from "../trust/index.ts";
import {
  describePassed,
  findTag,
  type JudgePull,
  requireMovable,
  requireUnprotected,
  syncSettings,
} from "../registry/index.ts";
import { type PublicSettings, publicMay } from "./anonymous.ts";
import { isDigest } from "./digests.ts";
import { manifestUnknown } from "./manifests/commands.ts";
import { checkTagRights, neededForTags } from "./manifests/tag-rights.ts";
import { neededBy, tagsAbove } from "./manifests/tags-above.ts";
import { heldManifest, pulledOf } from "./manifests/lookup.ts";
import { denied, neededToCreate, PULL, pullablePlace, PUSH, repositoryFor, resolveForPush } from "./names.ts";
import { gateDenied, pullGateOf } from "./pulls/gate.ts";
import type { Pulled } from "./pulls/pulled-manifest.ts";
import { signatureDenied } from "./pulls/signatures.ts";
import type { Action } from "./request.ts";
import { notPulled } from "./tags/timed-pull.ts";
import { grantedScopes } from "./token/grants.ts";

/** What a client would do: `reference` is a tag or a digest, or empty for the repo as a whole. */
export interface AttemptedAction {
  action: Action;
  /** `<organization>/<image…>` */
  name: string;
  reference: string;
}

export interface AttemptDeps {
  settings: PublicSettings;
  terms: readonly TermsDocument[];
  judge: JudgePull;
  judgeSigned: JudgeSignedPull;
}

/** The parts of the registry's decision. SOURCE: only the source of a mirror knows whether it has the image. */
type AttemptPart = "RIGHTS" | "EXISTENCE" | "SOURCE" | "POLICY" | "TERMS" | "GATE" | "SIGNATURE";

/** The registry's decision: the parts that were looked at, of which the last one failed when there is an error. */
export interface Attempt {
  parts: AttemptPart[];
  error?: MoorageError;
  /** What is not known of the image although the gate lets it pass, for people. */
  unknown?: string;
  /** What policies of signatures say of it although the caller is answered, for people. */
  unsigned?: string;
}

/**
 * What the registry would decide if the caller did this with a token that it asks for first, as clients do. Each part
 * is what the request itself runs; nothing is written, and no other registry is asked.
 */
export async function attemptAction(call: Call, deps: AttemptDeps, asked: AttemptedAction): Promise<Attempt> {
  const parts: AttemptPart[] = [];
  const enter = (part: AttemptPart): void => void parts.push(part);
  try {
    enter("RIGHTS");
    const scope = { name: asked.name, actions: [asked.action] };
    // What a center grants is no right here: the pull itself checks whether the place is one of its own.
    const isOfCenter = asked.action === "pull" && call.caller.center !== undefined;
    const { granted } = isOfCenter ? { granted: [scope] } : await grantedScopes(call, deps.settings, [scope]);
    if (granted.length === 0) throw denied(call, asked.name, basicNeeds(asked));
    return { parts, ...(await ATTEMPTS[asked.action](call, deps, asked, enter)) };
  } catch (error) {
    if (!(error instanceof MoorageError) || error.code === Code.Internal) throw error;
    return { parts, error };
  }
}

type Attempting = (
  call: Call,
  deps: AttemptDeps,
  asked: AttemptedAction,
  enter: (part: AttemptPart) => void,
) => Promise<Pick<Attempt, "unknown" | "unsigned">>;

const ATTEMPTS: Record<Action, Attempting> = {
  async pull(call, { settings, judge, judgeSigned }, { name, reference }, enter) {
    const { repo, standIn } = await pullablePlace(call, settings, name, pulledOf(reference));
    if (reference === "") return {};
    enter("EXISTENCE");
    if (repo === undefined) {
      enter("SOURCE");
      return {};
    }
    const held = await heldManifest(call, repo, reference);
    if (held === undefined && (standIn?.disabled === false || (await pullsThrough(call, repo)))) {
      enter("SOURCE");
      return {};
    }
    if (held === undefined) throw notPulled(reference);
    const gated = await attemptGate(call, judge, { repo, name, held }, enter);
    const { unsigned, instead } = await attemptSignatures(call, judgeSigned, { repo, name, held }, reference, enter);
    const unknown =
      instead === undefined ? gated : await attemptGate(call, judge, { repo, name, held: instead }, enter);
    return { ...(unknown !== "" && { unknown }), ...(unsigned !== "" && { unsigned }) };
  },
  async push(call, { terms }, { name, reference }, enter) {
    const { repo, group = "" } = await resolveForPush(call, name);
    const tags = reference === "" || isDigest(reference) ? [] : [reference];
    // No content has the empty digest: the push is one of another image than the tag points to.
    await checkTagRights(call, repo ?? group, { name, tags, digest: "" });
    for (const tag of repo === undefined ? [] : tags) {
      enter("POLICY");
      await requireMovable(call, { repo: repo ?? "", name: tag, digest: "" }, await findTag(call, repo ?? "", tag));
    }
    if (!terms.some(({ blocks }) => blocks.includes("push"))) return {};
    enter("TERMS");
    await requireTerms(call, terms, "push", [repo ?? group]);
    return {};
  },
  async delete(call, _deps, asked, enter) {
    const { name, reference } = asked;
    const repo = await repositoryFor(call, name, ...basicNeeds(asked));
    enter("EXISTENCE");
    if (!(await isThere(call, repo, reference))) throw manifestUnknown(reference);
    enter("POLICY");
    const above = isDigest(reference) ? await tagsAbove(call, repo, reference) : undefined;
    if (above !== undefined) throw new MoorageError(Code.FailedPrecondition, neededBy(above));
    for (const tag of isDigest(reference) ? await tagsOf(call, repo, reference) : [reference])
      requireUnprotected((await findTag(call, repo, tag)).policy, tag);
    return {};
  },
};

interface Held {
  repo: string;
  name: string;
  held: Pulled;
}

/** What the vulnerability gate does not know of an image that it lets pass; empty without one. */
async function attemptGate(
  call: Call,
  judge: JudgePull,
  { repo, name, held: { policy, digest, media_type: mediaType, content } }: Held,
  enter: (part: AttemptPart) => void,
): Promise<string> {
  const gate = pullGateOf(policy);
  if (gate === undefined) return "";
  enter("GATE");
  const verdict = await judge(call.tx, { repo, digest, mediaType, content }, gate, call.nowMs);
  if (verdict === undefined) return "";
  if (verdict.holds && gate.enforces) throw gateDenied(name, digest, verdict);
  return describePassed({ digest }, verdict);
}

/**
 * What the policies of signatures say of an image that the caller is answered all the same, empty otherwise; and what
 * is answered instead where they hold the tag.
 */
async function attemptSignatures(
  call: Call,
  judge: JudgeSignedPull,
  { repo, name, held: { signing, digest, media_type: mediaType, content } }: Held,
  reference: string,
  enter: (part: AttemptPart) => void,
): Promise<{ unsigned: string; instead?: Pulled }> {
  if (signing === null) return { unsigned: "" };
  const verdict = await judge(call, { repo, digest, mediaType, content });
  if (verdict === undefined) return { unsigned: "" };
  enter("SIGNATURE");
  const held = enforced(verdict.holding);
  if (held.length === 0) return { unsigned: "" };
  const words = describeHeld(digest, held);
  if (await call.may(Capability.CAP_UNSIGNED_READ, repo)) return { unsigned: words };
  const isTag = holdsTags(held) && !isDigest(reference);
  const earlier = isTag ? await lastPassing(call, judge, { repo, tag: reference, digest }) : undefined;
  const instead = earlier === undefined ? undefined : await heldManifest(call, repo, earlier);
  if (instead === undefined) throw signatureDenied(name, digest, held);
  return { unsigned: describeInstead(reference, instead.digest, words), instead };
}

/** What the action needs in any case. */
export function basicNeeds({ action, reference }: Omit<AttemptedAction, "name">): Capability[] {
  if (action === "pull") return PULL;
  if (action === "push") return PUSH;
  return [isDigest(reference) ? Capability.CAP_MANIFEST_DELETE : Capability.CAP_TAG_DELETE];
}

/** What the action needs beside that, by what exists of the image. */
export async function furtherNeeds(
  call: Call,
  { action, reference }: AttemptedAction,
  { repo, missing }: Resolved,
): Promise<Capability[]> {
  if (action !== "push") return [];
  const tags = reference === "" || isDigest(reference) ? [] : [reference];
  return [...neededToCreate(missing), ...(await neededForTags(call, repo ?? "", { tags, digest: "" }))];
}

/**
 * Whether the image is one that callers without rights may pull; undefined when it is not in the public organization.
 */
export async function isFreeToPull(
  call: Call,
  settings: PublicSettings,
  { action, name, reference }: AttemptedAction,
): Promise<boolean | undefined> {
  if (action !== "pull" || !name.startsWith(`${settings.publicOrganization}/`)) return undefined;
  const { repo } = await resolveRepository(call, name);
  return repo !== undefined && (await publicMay(call, settings, repo, pulledOf(reference)));
}

async function pullsThrough({ tx }: Call, repo: string): Promise<boolean> {
  const row = await tx.selectFrom("repos").select("sync_config").where("uid", "=", repo).executeTakeFirst();
  return syncSettings(row?.sync_config ?? null)?.pullThrough === true;
}

async function isThere(call: Call, repo: string, reference: string): Promise<boolean> {
  if (!isDigest(reference)) return (await findTag(call, repo, reference)).tag !== undefined;
  return (await heldManifest(call, repo, reference)) !== undefined;
}

async function tagsOf({ tx }: Call, repo: string, digest: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("tags")
    .select("name")
    .where("parent", "=", repo)
    .where("digest", "=", digest)
    .execute();
  return rows.map(({ name }) => name);
}
