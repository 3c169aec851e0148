import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { queueOn } from "@moorage/kernel/work";
import { MAIL_STATE } from "./outbox.ts";

/** How long a process that died keeps a mail; a live one renews its hold in time. In milliseconds. */
export const HOLD_MS = 60_000;

const MAILS = queueOn({
  table: "mails",
  key: ["uid"],
  holdMs: HOLD_MS,
  open: `state = ${MAIL_STATE.waiting}`,
  states: { waiting: MAIL_STATE.waiting, done: MAIL_STATE.sent, failed: MAIL_STATE.failed },
  ended: ({ nowMs }) => ({ content: "", end_time: nowMs }),
  failed: (call, { uid }, reason) => noteEnd(call, uid, { outcome: "failed", reason }),
});

/** A mail, and which process sends it. */
export interface HeldMail {
  uid: string;
  holder: string;
}

/** What is to be sent. `content`: a MailText as JSON, sealed for mailPlace. */
export interface ClaimedMail {
  uid: string;
  address: string;
  content: string;
}

/** Whether a mail is due. */
export async function isAnyDue({ tx, agreedMs }: Pick<Call, "tx" | "agreedMs">): Promise<boolean> {
  const row = await tx
    .selectFrom("mails")
    .select("uid")
    .where("state", "=", MAIL_STATE.waiting)
    .where("hold_until", "<=", agreedMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Takes the mail that is due longest. Undefined when none is due, and when `again` says to ask again. One whose link
 * has ended, or that was attempted `maxAttempts` times, has failed.
 */
export const claimMail = command(
  "mail.claimMail",
  async (
    call: Call,
    { holder, maxAttempts }: { holder: string; maxAttempts: number },
  ): Promise<{ claimed?: ClaimedMail; again?: boolean }> => {
    const row = await call.tx
      .selectFrom("mails")
      .select(["uid", "address", "content", "attempts", "reason", "expire_time"])
      .where("state", "=", MAIL_STATE.waiting)
      .where("hold_until", "<=", call.agreedMs)
      .orderBy("hold_until")
      .orderBy("uid")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { uid, address, content, attempts, reason, expire_time } = row;
    const last = reason === "" ? "" : ` (${reason})`;
    const outcome = await MAILS.claim(
      call,
      { uid, attempts, reason },
      { holder, maxAttempts, reason: "the server ended each time while it was sent" },
    );
    if (outcome !== "held") return { again: true };
    if (expire_time <= call.nowMs) {
      await MAILS.fail(call, { uid }, `its link had ended before it could be sent${last}`);
      return { again: true };
    }
    return { claimed: { uid, address, content } };
  },
);

/** Goes on holding the mail. Answers false when another process has taken it, or it is not to be sent any more. */
export const renewMail = command("mail.renewMail", (call: Call, mail: HeldMail) => MAILS.isHeld(call, mail));

/** The mail server has taken it. */
export const finishMail = command("mail.finishMail", async (call: Call, mail: HeldMail): Promise<void> => {
  if (!(await MAILS.isHeld(call, mail)).held) return;
  await MAILS.finish(call, mail);
  await noteEnd(call, mail.uid, { outcome: "sent" });
});

/**
 * It was not sent. `isFinal`: it never will be. Otherwise it is attempted again after the delay for as many attempts,
 * and has failed after the last. Answers which; undefined when another process has taken it.
 */
export const failMail = command(
  "mail.failMail",
  (
    call: Call,
    {
      reason,
      isFinal,
      delaysMs,
      ...mail
    }: HeldMail & { reason: string; isFinal: boolean; delaysMs: readonly number[] },
  ): Promise<"failed" | "again" | undefined> =>
    MAILS.failAttempt(call, mail, {
      reason,
      delayOf: (attempts) => (isFinal ? undefined : delaysMs[attempts - 1]),
    }),
);

/** Nobody sends it any longer, since the process shuts down; the attempt does not count. */
export const releaseMail = command("mail.releaseMail", (call: Call, mail: HeldMail) => MAILS.release(call, mail));

/** Writes what became of the mail into the audit log of the organization in whose name it was. */
async function noteEnd(call: Call, uid: string, outcome: Record<string, string>): Promise<void> {
  const row = await call.tx
    .selectFrom("mails")
    .select(["purpose", "subject", "organization", "address"])
    .where("uid", "=", uid)
    .executeTakeFirst();
  if (row === undefined) return;
  const { purpose, subject, organization, address } = row;
  await audit(call, {
    method: "mail.send",
    resource: organization,
    isOrganization: true,
    isSystem: true,
    details: { purpose, subject, mailTo: address, ...outcome },
  });
}

const KEPT_MS = 30 * 86_400_000;
const PAGE = 500;

/** Removes mails of long ago whose invite is gone, at most a page of them. Answers how many. */
export const removeOldMails = command(
  "mail.removeOldMails",
  async ({ tx, nowMs }: Call): Promise<{ mails: number }> => {
    const old = tx
      .selectFrom("mails")
      .select("uid")
      .where("create_time", "<", nowMs - KEPT_MS)
      .where("subject", "not in", tx.selectFrom("group_invites").select("uid"))
      .limit(PAGE);
    const removed = await tx.deleteFrom("mails").where("uid", "in", old).returning("uid").execute();
    return { mails: removed.length };
  },
);

export const mailCommands = [claimMail, renewMail, finishMail, failMail, releaseMail, removeOldMails] as const;
