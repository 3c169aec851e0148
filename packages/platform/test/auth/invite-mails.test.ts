import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newAccount, openAccountBrowser, PASSWORD, preconditionOf } from "../../../server/test/support/accounts.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  MAIL_PASSWORD,
  type MailServer,
  mailTls,
  startMailServer,
  startSilentServer,
  USER,
} from "../../../server/test/support/mail-server.ts";
import { blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Invites and recovery links that the server mails, by a mail server on a real socket.
const FAST = { MOORAGE_WORK_POLL: "50ms", MOORAGE_SMTP_RETRY: "50ms,50ms" };
const FROM = { MOORAGE_SMTP_FROM: "Acme registry <registry@example.com>" };
let mail: MailServer;
let platform: Platform;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "moorage-mail-"));
  const { options, ca } = mailTls(folder);
  mail = await startMailServer({ ...options, secure: true, authOptional: false });
  const file = join(folder, "password");
  writeFileSync(file, `${MAIL_PASSWORD}\n`);
  platform = await startPlatform({
    ...FAST,
    ...FROM,
    MOORAGE_SMTP_URL: `smtps://${USER}@127.0.0.1:${mail.port}`,
    MOORAGE_SMTP_PASSWORD_FILE: file,
    MOORAGE_SMTP_TLS_CA: ca,
  });
});
after(async () => {
  await platform?.close();
  await mail?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

const invite = async (on: Platform, mailTo: string, fields: object = {}) =>
  on.call("POST", `/iam/v2/groupInvites/${on.organization}`, {
    token: await on.token(),
    body: { roleUid: await on.role("editor"), ttl: "3600s", mailTo, ...fields },
  });
const invited = async (on: Platform, mailTo: string, fields: object = {}): Promise<Json> => {
  const answer = await invite(on, mailTo, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const settled = (on: Platform, { uid }: Pick<Json, "uid">, state: string): Promise<Json> =>
  eventually(async () => {
    const found = await on.ok("GET", `/iam/v2/groupInvites/${uid}`);
    return found["mailState"] === state && found;
  });

/** What stands behind this beginning of a line. */
function secretIn(text: string, beginning: string): string {
  return (text.split("\n").find((line) => line.startsWith(beginning)) ?? "").slice(beginning.length);
}

test("a mailed invite's link is in the mail alone, is single-use, and makes an account", async () => {
  const made = await invited(platform, "ada@example.com");
  assert.deepEqual(
    [made["code"], made["url"], made["singleUse"], made["mailTo"], made["mailState"], made["mailReason"]],
    ["", "", true, "ada@example.com", "MAIL_STATE_WAITING", ""],
  );
  const sent = await settled(platform, made, "MAIL_STATE_SENT");
  assert.ok(Date.parse(String(sent["mailTime"])) > 0);
  const arrived = await mail.mailTo("ada@example.com");
  assert.deepEqual([arrived.from, arrived.to], ["registry@example.com", ["ada@example.com"]]);
  assert.deepEqual([arrived.isSecure, arrived.user], [true, USER]);
  assert.equal(arrived.headers.get("from"), "Acme registry <registry@example.com>");
  assert.equal(arrived.headers.get("subject"), "Invitation to acme");
  assert.equal(arrived.headers.get("auto-submitted"), "auto-generated");
  assert.match(arrived.headers.get("content-type") ?? "", /^text\/plain; charset=utf-8/);
  const lines = arrived.text.split("\n");
  assert.match(lines[0] ?? "", / invites you to acme on \S+\.$/);
  assert.equal(lines[0]?.endsWith(` on ${platform.bootstrap.baseUrl}.`), true);
  assert.equal(lines[2], "Role: editor");
  const code = secretIn(arrived.text, `${platform.bootstrap.baseUrl}/invite#`);
  const ada = openAccountBrowser(platform);
  const body = { invite: code, name: "ada@example.com", password: PASSWORD };
  const answer = await ada.post("/session/account/password", body);
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await ada.post("/session/account/password", { ...body, name: "eve" })).status, 404);

  const { reader } = platform;
  const row = await reader.selectFrom("mails").selectAll().where("subject", "=", made.uid).executeTakeFirstOrThrow();
  assert.equal(row.content, "", "what was sent is not kept");
  const entries = await platform.ok("GET", "/iam/v2/auditEntries?method=mail.send");
  const [entry] = entries["auditEntries"] as { details: Record<string, string> }[];
  assert.deepEqual(
    [entry?.details["mailTo"], entry?.details["outcome"], entry?.details["purpose"]],
    ["ada@example.com", "sent", "invite"],
  );
});

test("what is mailed is good for a week at most, and stays single-use", async () => {
  const long = await invite(platform, "long@example.com", { ttl: "604801s" });
  assert.deepEqual([long.status, blamed(long)], [400, ["ttl"]]);
  const made = await invited(platform, "week@example.com", { ttl: "604800s" });
  const changed = await platform.call("PATCH", `/iam/v2/groupInvites/${made.uid}`, {
    token: await platform.token(),
    body: { singleUse: false },
  });
  assert.deepEqual([changed.status, blamed(changed)], [400, ["singleUse"]]);
});

test("a dry run sends nothing", async () => {
  const answer = await platform.call("POST", `/iam/v2/groupInvites/${platform.organization}?validateOnly=true`, {
    token: await platform.token(),
    body: { roleUid: await platform.role("editor"), ttl: "3600s", mailTo: "dry@example.com" },
  });
  assert.equal(answer.status, 200, answer.text);
  await settled(platform, await invited(platform, "after-dry@example.com"), "MAIL_STATE_SENT");
  assert.equal(mail.asked.includes("dry@example.com"), false);
});

test("an address that the mail server does not know ends the mail at once, and the invite says why", async () => {
  mail.answerRecipient = () => ({ code: 550, text: "no such\u0007 mailbox here" });
  const made = await settled(platform, await invited(platform, "nobody@example.com"), "MAIL_STATE_FAILED");
  mail.answerRecipient = () => undefined;
  assert.match(String(made["mailReason"]), /^the mail server said 550 .*no such\s+mailbox here$/);
  assert.equal(mail.asked.filter((address) => address === "nobody@example.com").length, 1);
});

test("a mail server that is busy first gets the mail later", async () => {
  let left = 2;
  mail.answerRecipient = () => ((left -= 1) >= 0 ? { code: 451, text: "greylisted" } : undefined);
  await settled(platform, await invited(platform, "grey@example.com"), "MAIL_STATE_SENT");
  mail.answerRecipient = () => undefined;
  assert.equal(mail.asked.filter((address) => address === "grey@example.com").length, 3);
  const arrived = await mail.mailTo("grey@example.com");
  assert.match(arrived.headers.get("message-id") ?? "", /^<[0-9a-f]{32}@example\.com>$/);
});

test("attempts end, and the last reason stays", async () => {
  mail.answerRecipient = () => ({ code: 452, text: "mailbox full" });
  const made = await settled(platform, await invited(platform, "full@example.com"), "MAIL_STATE_FAILED");
  mail.answerRecipient = () => undefined;
  assert.match(String(made["mailReason"]), /452 .*mailbox full/);
  assert.equal(mail.asked.filter((address) => address === "full@example.com").length, 3);
});

test("an invite that is taken back before its mail was sent is not sent", async () => {
  mail.answerRecipient = (address) => (address === "gone@example.com" ? { code: 451, text: "later" } : undefined);
  const made = await invited(platform, "gone@example.com");
  await eventually(() => mail.asked.includes("gone@example.com"));
  await platform.ok("DELETE", `/iam/v2/groupInvites/${made.uid}`);
  await settled(platform, await invited(platform, "after-gone@example.com"), "MAIL_STATE_SENT");
  const { reader } = platform;
  const row = await reader.selectFrom("mails").selectAll().where("subject", "=", made.uid).executeTakeFirstOrThrow();
  assert.deepEqual([row.state, row.reason, row.content], [3, "it was taken back before", ""]);
  // An attempt may have been under way when it was deleted; no other one follows.
  const asked = mail.asked.filter((address) => address === "gone@example.com").length;
  await settled(platform, await invited(platform, "long-after-gone@example.com"), "MAIL_STATE_SENT");
  assert.equal(mail.asked.filter((address) => address === "gone@example.com").length, asked);
});

test("a recovery link is mailed to the account's address alone, and is not shown", async () => {
  const { identity } = await newAccount(platform, "grace@example.com");
  const token = await platform.token();
  const ask = (body: object) => platform.call("POST", "/session/recovery-links", { token, body });
  const elsewhere = await ask({ identity, mailTo: "eve@example.com" });
  assert.deepEqual([elsewhere.status, preconditionOf(elsewhere)], [400, "ANOTHER_ADDRESS"]);
  const made = await ask({ identity, mailTo: "grace@example.com" });
  assert.equal(made.status, 200, made.text);
  assert.deepEqual([made.body["url"], made.body["mailTo"]], [undefined, "grace@example.com"]);
  const arrived = await mail.mailTo("grace@example.com");
  const secret = secretIn(arrived.text, `${platform.bootstrap.baseUrl}/sign-in/recover#`);
  const offer = await openAccountBrowser(platform).post("/session/account/offer", { recovery: secret });
  assert.equal(offer.body["name"], "grace@example.com", offer.text);
});

test("a mail server that says nothing is left after the time, and the server ends although one is asked", async (t) => {
  const silent = await startSilentServer();
  t.after(() => silent.close());
  const one = await startPlatform({
    ...FAST,
    ...FROM,
    MOORAGE_SMTP_URL: `smtp://127.0.0.1:${silent.port}`,
    MOORAGE_SMTP_TIMEOUT: "1s",
    MOORAGE_SMTP_RETRY: "50ms",
  });
  t.after(() => one.close());
  const failed = await settled(one, await invited(one, "silent@example.com"), "MAIL_STATE_FAILED");
  assert.equal(failed["mailReason"], "the mail server did not answer in time");
  assert.equal(silent.connections(), 2);
  await invited(one, "under-way@example.com");
  await eventually(() => silent.connections() === 3);
});
