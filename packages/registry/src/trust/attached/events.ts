import { SignatureChangeSchema, SignatureCode, SignatureState, SignatureStateSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { select } from "@moorage/kernel/store";

/** A manifest, as one with signatures of the subject. */
interface Place {
  subject: string;
  manifest: string;
}

/** The most repos in which a manifest with signatures is attached that get an event of it. */
const MAX_REPOS = 100;
const MAX_SIGNERS = 20;

/** What happened to what is attached to an image: see SignatureChange of the contract. */
interface Change extends Place {
  repo: string;
  what: "verified" | "rejected" | "lost";
  /** The uids of the signers that it was, or is, trusted by. */
  signers: readonly string[];
  /** Why, in words; empty for what is verified. */
  reason: string;
  /** Who attached it, or took it away; empty when that is not known. */
  actor: string;
}

/** Emits the event of a change. */
async function emitChange(
  call: Call,
  { repo, subject, manifest, what, signers, reason, actor }: Change,
): Promise<void> {
  const { tx, nowMs } = call;
  const named = signers.slice(0, MAX_SIGNERS);
  const rows =
    named.length === 0
      ? []
      : await tx.selectFrom("signers").select(["uid", "name"]).where("uid", "in", named).execute();
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  call.emit(SignatureChangeSchema, {
    type: `registry.signature.${what}.v1`,
    subject: repo,
    group: parentOf(repo),
    body: {
      repository: await pathOf(tx, repo),
      repoId: repo,
      digest: subject,
      manifest,
      signers: named.map((uid) => ({ uid, name: names.get(uid) ?? "" })),
      reason,
      actor,
      when: civilTime(nowMs),
    },
  });
}

/** Who trusts what stands in the manifest now, by their uids. */
export async function trustedBy({ tx, nowMs }: Pick<Call, "tx" | "nowMs">, place: Place): Promise<string[]> {
  const rows = await select<{ signer: string }>(
    tx,
    `select distinct v.signer from signature_verdicts as v join signature_entries as e on e.subject = v.subject and e.manifest = v.manifest and e.n = v.n
     where v.subject = ? and v.manifest = ? and v.state = ${SignatureState.TRUSTED} and e.code = 0
       and v.from_time <= ? and (v.until_time is null or v.until_time > ?) order by v.signer`,
    [place.subject, place.manifest, nowMs, nowMs],
  );
  return rows.map(({ signer }) => signer);
}

/** The same of all that is attached to the subject in the repo. */
async function trustedOf({ tx, nowMs }: Call, repo: string, subject: string): Promise<string[]> {
  const rows = await select<{ signer: string }>(
    tx,
    `select distinct v.signer from signature_sources as s join signature_verdicts as v on v.subject = s.subject and v.manifest = s.manifest
     where s.repo = ? and s.subject = ? and s.until_time is null and v.state = ${SignatureState.TRUSTED}
       and v.from_time <= ? and (v.until_time is null or v.until_time > ?)`,
    [repo, subject, nowMs, nowMs],
  );
  return rows.map(({ signer }) => signer);
}

/** Those of the signers whose word counts in the repo. */
function countingIn(repo: string, signers: readonly string[]): string[] {
  return signers.filter((signer) => isWithin(repo, parentOf(signer)));
}

/**
 * Emits what has changed by verifying the manifest, for each repo that has it attached: signers who newly trust it, who
 * do not any longer, and, the first time, that something in it is wrong whoever made it.
 */
export async function emitVerified(
  call: Call,
  place: Place,
  { before, isFirst }: { before: readonly string[]; isFirst: boolean },
): Promise<void> {
  const after = await trustedBy(call, place);
  const [added, gone] = [
    after.filter((each) => !before.includes(each)),
    before.filter((each) => !after.includes(each)),
  ];
  const fault = isFirst ? await faultIn(call, place) : undefined;
  if (added.length === 0 && gone.length === 0 && fault === undefined && !isFirst) return;
  const repos = await call.tx
    .selectFrom("signature_sources")
    .select(["repo", "attached_by", "via"])
    .where("subject", "=", place.subject)
    .where("manifest", "=", place.manifest)
    .where("until_time", "is", null)
    .orderBy("repo")
    .limit(MAX_REPOS)
    .execute();
  for (const { repo, attached_by: actor, via } of repos) {
    const [verified, lost] = [countingIn(repo, added), countingIn(repo, gone)];
    if (verified.length > 0)
      await emitChange(call, { ...place, repo, what: "verified", signers: verified, reason: "", actor });
    if (lost.length > 0)
      await emitChange(call, {
        ...place,
        repo,
        what: "lost",
        signers: lost,
        reason: await whyNot(call, place, lost),
        actor: "",
      });
    if (fault !== undefined)
      await emitChange(call, { ...place, repo, what: "rejected", signers: [], reason: fault, actor });
    if (isFirst && via !== "") await emitReplaced(call, { ...place, repo, via, actor });
  }
}

/** Emits that something that was verified before, as in another repo, is now attached here. */
export async function emitAttached(call: Call, place: Place & { repo: string; actor: string }): Promise<void> {
  const signers = countingIn(place.repo, await trustedBy(call, place));
  if (signers.length > 0) await emitChange(call, { ...place, what: "verified", signers, reason: "" });
}

/**
 * Emits that what had the tag before the manifest was trusted by signers who trust nothing any longer that is attached:
 * programs that add a signature push all of them anew.
 */
async function emitReplaced(call: Call, now: Place & { repo: string; via: string; actor: string }): Promise<void> {
  const { repo, subject, via, actor } = now;
  const before = await call.tx
    .selectFrom("signature_sources")
    .select("manifest")
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .where("via", "=", via)
    .where("manifest", "<>", now.manifest)
    .where("until_time", "is not", null)
    .orderBy("until_time", "desc")
    .limit(1)
    .executeTakeFirst();
  if (before === undefined) return;
  const place = { subject, manifest: before.manifest };
  const still = await trustedOf(call, repo, subject);
  const signers = countingIn(repo, await trustedBy(call, place)).filter((each) => !still.includes(each));
  const reason = `tag ${via} points to ${now.manifest} now`;
  if (signers.length > 0) await emitChange(call, { ...place, repo, what: "lost", signers, reason, actor });
}

/** Emits that something trusted was taken away from an image that is still there. `via`: the tag that it had. */
export async function emitDetached(call: Call, place: Place & { repo: string; via: string }): Promise<void> {
  const { tx } = call;
  const { repo, subject, via } = place;
  const still = await trustedOf(call, repo, subject);
  const signers = countingIn(repo, await trustedBy(call, place)).filter((each) => !still.includes(each));
  if (signers.length === 0) return;
  const held = tx.selectFrom("manifests").select("digest").where("repo", "=", repo).where("digest", "=", subject);
  if ((await held.executeTakeFirst()) === undefined) return;
  const moved = await tx
    .selectFrom("tag_history")
    .select("actor")
    .where("repo", "=", repo)
    .where("tag", "=", via)
    .orderBy("time", "desc")
    .limit(1)
    .executeTakeFirst();
  const reason = via === "" ? "it is not attached any longer" : `tag ${via} does not point to it any longer`;
  await emitChange(call, { ...place, what: "lost", signers, reason, actor: moved?.actor ?? "" });
}

/** The first thing in the manifest that is wrong whoever made it; undefined for none. */
async function faultIn({ tx }: Call, { subject, manifest }: Place): Promise<string | undefined> {
  const row = await tx
    .selectFrom("signature_entries")
    .select("reason")
    .where("subject", "=", subject)
    .where("manifest", "=", manifest)
    .where("code", "not in", [SignatureCode.UNSPECIFIED, SignatureCode.UNKNOWN_FORMAT])
    .orderBy("n")
    .limit(1)
    .executeTakeFirst();
  return row?.reason;
}

/** Why these signers do not trust it any longer, where that is known. */
async function whyNot({ tx, nowMs }: Call, place: Place, signers: readonly string[]): Promise<string> {
  const rows = await tx
    .selectFrom("signature_verdicts")
    .select(["state", "reason"])
    .where("subject", "=", place.subject)
    .where("manifest", "=", place.manifest)
    .where("signer", "in", [...signers])
    .where("from_time", "<=", nowMs)
    .where((where) => where.or([where("until_time", "is", null), where("until_time", ">", nowMs)]))
    .orderBy("n")
    .limit(1)
    .execute();
  const [row] = rows;
  if (row === undefined) return "no key or identity of the signer has made it";
  return row.reason === "" ? (SignatureStateSchema.value[row.state as SignatureState]?.name ?? "") : row.reason;
}
