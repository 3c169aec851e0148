import { randomBytes } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { Code, failedPrecondition, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import { isMailAddress } from "@moorage/kernel/lib/mail-address";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import type { MailText } from "./text.ts";

/** The states of a mail; those of the API have the same numbers. */
export const MAIL_STATE = { waiting: 1, sent: 2, failed: 3 } as const;

const DAY_MS = 86_400_000;
/** The most mails that are asked for in a day. */
const MAX_A_DAY = {
  /** To one address by one organization: whoever may invite floods nobody. */
  address: 5,
  sender: 50,
  organization: 200,
} as const;

/** A mail to be sent. */
export interface NewMail {
  purpose: "invite" | "recovery";
  /** The uid of the invite or of the person that it is about. */
  subject: string;
  /** The uid of the organization in whose name it is sent. */
  organization: string;
  address: string;
  /** When the link that it holds ends; it is not sent later. In milliseconds since 1970. */
  expireTimeMs: number;
  text: MailText;
}

/** A mail as it is shown. */
export interface ShownMail {
  subject: string;
  address: string;
  state: number;
  reason: string;
  /** When it was sent or given up; null while it waits. */
  endTimeMs: number | null;
}

/** Throws FAILED_PRECONDITION on a server that sends no mail, and INVALID_ARGUMENT for what is no address. */
export function requireMailable(sendsMail: boolean, field: string, address: string): void {
  if (!isMailAddress(address))
    throw invalidArgument({ field, description: "must be one e-mail address, in ASCII, such as ada@example.com" });
  if (!sendsMail)
    throw failedPrecondition({
      type: "NO_MAIL",
      subject: field,
      description:
        "this server sends no mail (MOORAGE_SMTP_URL is not set): leave it out, and pass the link on yourself",
    });
}

/**
 * Has the mail sent after the commit. Its text, which holds a secret, is sealed until it was sent. Throws
 * RESOURCE_EXHAUSTED when the caller or the organization asked for too many in the last day, in all or to this address.
 */
export async function enqueueMail(call: Call, secrets: Secrets, mail: NewMail): Promise<void> {
  const { tx, nowMs, caller } = call;
  const { purpose, subject, organization, address, expireTimeMs, text } = mail;
  const addressKey = address.toLowerCase();
  const since = nowMs - DAY_MS;
  const countOf = async (by: "sender" | "organization", key: string, toAddress = false): Promise<number> => {
    let rows = tx
      .selectFrom("mails")
      .select(({ fn }) => fn.countAll<number | string>().as("n"))
      .where(by, "=", key)
      .where("create_time", ">", since);
    if (toAddress) rows = rows.where("address_key", "=", addressKey);
    return Number((await rows.executeTakeFirstOrThrow()).n);
  };
  if ((await countOf("organization", organization, true)) >= MAX_A_DAY.address)
    throw tooMany("the organization sent this address");
  if ((await countOf("sender", caller.identity)) >= MAX_A_DAY.sender) throw tooMany("you asked for");
  if ((await countOf("organization", organization)) >= MAX_A_DAY.organization) throw tooMany("the organization sent");
  const uid = randomBytes(16).toString("hex");
  await tx
    .insertInto("mails")
    .values({
      uid,
      purpose,
      subject,
      organization,
      sender: caller.identity,
      address,
      address_key: addressKey,
      content: secrets.seal(JSON.stringify(text), mailPlace(uid)),
      state: MAIL_STATE.waiting,
      reason: "",
      attempts: 0,
      holder: "",
      hold_until: 0,
      create_time: nowMs,
      expire_time: expireTimeMs,
      end_time: null,
    })
    .execute();
  call.wake("mails");
}

function tooMany(who: string): MoorageError {
  return new MoorageError(
    Code.ResourceExhausted,
    `Resource exhausted: ${who} too many mails in the last day: try again later, or pass a link on yourself`,
    { retryAfterMs: 3_600_000 },
  );
}

/** What a mail's text is sealed for. */
export function mailPlace(uid: string): string {
  return `mail:${uid}`;
}

/** Gives up what waits to be sent about it: the link is good no longer. The rows stay, so that they count. */
export async function cancelMails({ tx, nowMs }: Pick<Call, "tx" | "nowMs">, subject: string): Promise<void> {
  await tx
    .updateTable("mails")
    .set({ state: MAIL_STATE.failed, reason: "it was taken back before", content: "", end_time: nowMs })
    .where("subject", "=", subject)
    .where("state", "=", MAIL_STATE.waiting)
    .execute();
}

/** The last mail about each of these, by the subject's uid. */
export async function mailsAbout(tx: Database, subjects: readonly string[]): Promise<ReadonlyMap<string, ShownMail>> {
  if (subjects.length === 0) return new Map();
  const rows = await tx
    .selectFrom("mails")
    .select(["subject", "address", "state", "reason", "end_time as endTimeMs"])
    .where("subject", "in", subjects)
    .orderBy("create_time")
    .orderBy("uid")
    .execute();
  return new Map(rows.map((row) => [row.subject, row]));
}
