import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, type Row, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { awaitReading, hurryReading } from "../attached/check.ts";
import { STATUS_STATE, VERIFYING } from "../command-options.ts";
import { type KnownStatus, statusKey, type StatusNeed } from "../verify/statuses.ts";
import { isOtherStatus, knownStatus, type StatusChange } from "./status-changes.ts";

type StatusRow = Row<"certificate_statuses">;

interface Place {
  subject: string;
  manifest: string;
}

/** The most certificates that authorities are asked about, in all. */
const MAX_STATUSES = 10_000;
const PAGE = 100;

/** What is kept of the certificates on which the verification of the manifest depends, by `statusKey`. */
export async function statusesOf(tx: Database, { subject, manifest }: Place): Promise<Record<string, KnownStatus>> {
  const rows = await select<StatusRow>(
    tx,
    `select s.* from certificate_status_uses as u join certificate_statuses as s on s.certificate = u.certificate and s.issuer = u.issuer
     where u.subject = ? and u.manifest = ?`,
    [subject, manifest],
  );
  return Object.fromEntries(rows.map((row) => [keyOf(row), knownStatus(row)]));
}

function keyOf({ certificate, issuer }: Pick<StatusRow, "certificate" | "issuer">): string {
  return statusKey({ certificateId: certificate, issuerId: issuer });
}

/**
 * Notes on which certificates the verification of a manifest depends, and on no others any longer. Answers what is
 * known of them; those of which nothing is will be asked about.
 */
export const useCertificateStatuses = command(
  "trust.useCertificateStatuses",
  async (
    call: Call,
    { subject, manifest, needs }: { subject: string; manifest: string; needs: StatusNeed[] },
  ): Promise<{ statuses: Record<string, KnownStatus> }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "signatures");
    const place = { subject, manifest };
    const used = await tx
      .selectFrom("certificate_status_uses")
      .select(["certificate", "issuer"])
      .where((where) => where.and(place))
      .execute();
    const wanted = new Map(needs.map((need) => [statusKey(need), need]));
    for (const { certificate, issuer } of used)
      if (!wanted.has(keyOf({ certificate, issuer })))
        await tx
          .deleteFrom("certificate_status_uses")
          .where((where) => where.and({ ...place, certificate, issuer }))
          .execute();
    const left: Record<string, KnownStatus> = {};
    for (const [key, need] of wanted)
      if (!(await addUse(call, place, need))) {
        const problem = `more than ${MAX_STATUSES} certificates would have to be asked about`;
        left[key] = { state: "none", failedMs: call.nowMs, problem };
      }
    return { statuses: { ...(await statusesOf(tx, place)), ...left } };
  },
  VERIFYING,
);

/** Answers false where too many certificates are asked about already. */
async function addUse({ tx, nowMs, wake }: Call, place: Place, need: StatusNeed): Promise<boolean> {
  const id = { certificate: need.certificateId, issuer: need.issuerId };
  const known = tx
    .selectFrom("certificate_statuses")
    .select("next_time")
    .where((where) => where.and(id));
  if ((await known.executeTakeFirst()) === undefined) {
    const { count } = await tx
      .selectFrom("certificate_statuses")
      .select(({ fn }) => fn.countAll<number | string>().as("count"))
      .executeTakeFirstOrThrow();
    if (Number(count) >= MAX_STATUSES) return false;
    const { certificate: certificate_der, issuer: issuer_der, name, host } = need;
    const empty = { from_time: null, until_time: null, since_time: null, revoke_time: null, failed_time: null };
    const check = { check_time: null, check_subject: "", check_manifest: "" };
    const asked = { state: STATUS_STATE.none, message: "", attempts: 0, next_time: nowMs };
    await tx
      .insertInto("certificate_statuses")
      .values({ ...id, certificate_der, issuer_der, name, host, ...asked, ...empty, ...check })
      .execute();
    wake("certificate-statuses");
  }
  await tx
    .insertInto("certificate_status_uses")
    .values({ ...place, ...id })
    .onConflict((on) => on.doNothing())
    .execute();
  return true;
}

/** A certificate that was asked about, as it was read: nothing is noted where it has changed since. */
export type AskedRow = Pick<StatusRow, "certificate" | "issuer" | "next_time">;

/** Notes what came of asking about a certificate. What depends on it is verified anew where that is something else. */
export const noteCertificateStatus = command(
  "trust.noteCertificateStatus",
  async (call: Call, { asked, change }: { asked: AskedRow; change: StatusChange }): Promise<{ isNoted: boolean }> => {
    const { tx, nowMs, wake } = call;
    await takeAdvisoryLock(tx, "signatures");
    const { certificate, issuer, next_time } = asked;
    const before = await tx
      .selectFrom("certificate_statuses")
      .selectAll()
      .where((where) => where.and({ certificate, issuer, next_time }))
      .executeTakeFirst();
    if (before === undefined) return { isNoted: false };
    const isOther = isOtherStatus(before, { ...before, ...change });
    const check = isOther ? { check_time: nowMs, check_subject: "", check_manifest: "" } : {};
    await tx
      .updateTable("certificate_statuses")
      .set({ ...change, ...check })
      .where((where) => where.and({ certificate, issuer }))
      .execute();
    if (isOther) wake("signatures");
    return { isNoted: true };
  },
  VERIFYING,
);

/**
 * Has a page of what depends on a certificate verified anew of which something else is known; before all others where
 * it is revoked. Answers false where there is none.
 */
export const checkNextCertificateStatus = command(
  "trust.checkNextCertificateStatus",
  async (call: Call, _input: Record<string, never>): Promise<{ checked: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "signatures");
    const next = await tx
      .selectFrom("certificate_statuses")
      .select(["certificate", "issuer", "state", "check_subject", "check_manifest"])
      .where("check_time", "is not", null)
      .orderBy("check_time")
      .orderBy("certificate")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return { checked: false };
    const { certificate, issuer } = next;
    const rows = await select<Place>(
      tx,
      `select u.subject, u.manifest from certificate_status_uses as u
       where u.certificate = ? and u.issuer = ? and (u.subject, u.manifest) > (?, ?) and ${IS_ATTACHED}
       order by u.subject, u.manifest limit ${PAGE}`,
      [certificate, issuer, next.check_subject, next.check_manifest],
    );
    for (const { subject, manifest } of rows) {
      await awaitReading(call, subject, manifest);
      if (next.state === STATUS_STATE.revoked) await hurryReading(call, subject, manifest);
    }
    const last = rows.at(-1);
    const place =
      rows.length < PAGE || last === undefined
        ? { check_time: null }
        : { check_subject: last.subject, check_manifest: last.manifest };
    await tx
      .updateTable("certificate_statuses")
      .set(place)
      .where((where) => where.and({ certificate, issuer }))
      .execute();
    return { checked: true };
  },
  VERIFYING,
);

/** Whether something that depends on it is attached now: `u` is a row of certificate_status_uses. */
export const IS_ATTACHED =
  "exists (select 1 from signature_sources as a where a.subject = u.subject and a.manifest = u.manifest and a.until_time is null)";
