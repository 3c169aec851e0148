import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import { type Claims, MAX_OF_MANIFEST, withoutClaims } from "../claims/claims.ts";
import type { VerifiedEntry } from "../verify/types.ts";

/** A manifest, as one with signatures of the subject. */
export interface ReadingPlace {
  subject: string;
  manifest: string;
}

// Rows per statement, below the parameter limit of every engine.
const ROWS = 300;

/** Writes the signatures of the manifest in place of those of an earlier verification. */
export async function writeEntries(
  { tx }: Call,
  place: ReadingPlace,
  entries: readonly VerifiedEntry[],
): Promise<void> {
  const { subject, manifest } = place;
  await tx.deleteFrom("signature_entries").where("subject", "=", subject).where("manifest", "=", manifest).execute();
  if (entries.length === 0) return;
  const claims = claimTexts(entries);
  const rows = entries.map(({ n, format, predicateType, identity, signedMs, timeSource, code, reason }, at) => ({
    subject,
    manifest,
    n,
    format,
    identity,
    code,
    reason,
    predicate_type: predicateType,
    signed_time: signedMs ?? null,
    time_source: timeSource,
    claims: claims[at] ?? "",
  }));
  await tx.insertInto("signature_entries").values(rows).execute();
}

/** The claims of each as JSON, empty without any. Those of later ones are left out where they are too many together. */
function claimTexts(entries: readonly VerifiedEntry[]): string[] {
  let left = MAX_OF_MANIFEST;
  const textOf = (claims: Claims): string => {
    const text = JSON.stringify(claims);
    if (text.length > left) return JSON.stringify(withoutClaims(claims));
    left -= text.length;
    return text;
  };
  return entries.map(({ claims }) => (claims === undefined ? "" : textOf(claims)));
}

type Verdict = Row<"signature_verdicts">;

/**
 * Writes what the signatures are worth from now on, with what is known of later times. What held until now and goes on
 * holding stays as it is; what does not, ends now and is kept.
 */
export async function writeVerdicts(
  { tx, nowMs }: Call,
  { subject, manifest }: ReadingPlace,
  entries: readonly VerifiedEntry[],
): Promise<void> {
  const known = await tx
    .selectFrom("signature_verdicts")
    .selectAll()
    .where("subject", "=", subject)
    .where("manifest", "=", manifest)
    .where((where) => where.or([where("until_time", "is", null), where("until_time", ">", nowMs)]))
    .execute();
  const wanted = entries.flatMap(({ n, matches }) =>
    matches.flatMap(({ signer, fingerprint, segments }) =>
      segments
        .filter(({ untilMs = Infinity }) => untilMs > nowMs)
        .map(({ fromMs, untilMs, state, code, reason }): Verdict => ({
          subject,
          manifest,
          n,
          signer,
          fingerprint,
          state,
          code,
          reason,
          from_time: Math.max(fromMs, nowMs),
          until_time: untilMs ?? null,
        })),
    ),
  );
  const [before, after] = [byMaker(known), byMaker(wanted)];
  const added: Verdict[] = [];
  for (const maker of new Set([...before.keys(), ...after.keys()])) {
    const [was = [], is = []] = [before.get(maker), after.get(maker)];
    if (textOf(was, nowMs) === textOf(is, nowMs)) continue;
    const going = goingOn(was, is, nowMs);
    for (const row of was) if (row !== going?.was) await end(row);
    if (going !== undefined) await extend(going.was, going.is.until_time);
    added.push(...is.filter((row) => row !== going?.is));
  }
  for (let at = 0; at < added.length; at += ROWS)
    await tx
      .insertInto("signature_verdicts")
      .values(added.slice(at, at + ROWS))
      .execute();

  async function extend({ n, signer, from_time }: Verdict, until_time: number | null): Promise<void> {
    await tx
      .updateTable("signature_verdicts")
      .set({ until_time })
      .where((where) => where.and({ subject, manifest, n, signer, from_time }))
      .execute();
  }

  async function end({ n, signer, from_time }: Verdict): Promise<void> {
    const isRow = { subject, manifest, n, signer, from_time };
    // What has not begun yet was never so.
    if (from_time >= nowMs)
      await tx
        .deleteFrom("signature_verdicts")
        .where((where) => where.and(isRow))
        .execute();
    else
      await tx
        .updateTable("signature_verdicts")
        .set({ until_time: nowMs })
        .where((where) => where.and(isRow))
        .execute();
  }
}

/**
 * What is now, where it goes on until another time: the row stays, or there would be one for each answer of an
 * authority.
 */
function goingOn(
  was: readonly Verdict[],
  is: readonly Verdict[],
  nowMs: number,
): { was: Verdict; is: Verdict } | undefined {
  const before = was.find(({ from_time }) => from_time < nowMs);
  const after = is.find(({ from_time }) => from_time <= nowMs);
  if (before === undefined || after === undefined) return undefined;
  const said = ({ state, code, reason, fingerprint }: Verdict): string =>
    JSON.stringify([state, code, reason, fingerprint]);
  return said(before) === said(after) ? { was: before, is: after } : undefined;
}

function byMaker(rows: readonly Verdict[]): Map<string, Verdict[]> {
  const found = new Map<string, Verdict[]>();
  for (const row of rows) {
    const maker = `${row.n} ${row.signer}`;
    found.set(maker, [...(found.get(maker) ?? []), row]);
  }
  return found;
}

/** What rows of one maker say, whenever the first of them began. */
function textOf(rows: readonly Verdict[], nowMs: number): string {
  return JSON.stringify(
    rows
      .toSorted((one, other) => one.from_time - other.from_time)
      .map(({ from_time, until_time, state, code, reason, fingerprint }) => [
        Math.max(from_time, nowMs),
        until_time,
        state,
        code,
        reason,
        fingerprint,
      ]),
  );
}
