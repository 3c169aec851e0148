import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inviteCode, newAccount, openAccountBrowser, PASSWORD } from "../../../server/test/support/accounts.ts";
import { type MailServer, startMailServer } from "../../../server/test/support/mail-server.ts";
import { blamed, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// What is attempted by somebody who may ask for mails, who gets hold of one, or who guesses about people.
let mail: MailServer;
let platform: Platform;
before(async () => {
  mail = await startMailServer();
  platform = await startPlatform({
    MOORAGE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MOORAGE_SMTP_FROM: "registry@example.com",
    MOORAGE_WORK_POLL: "50ms",
    MOORAGE_SMTP_RETRY: "1h",
  });
});
after(async () => {
  await platform?.close();
  await mail?.close();
});

const inviteTo = async (mailTo: string, { group = platform.organization, token = "", fields = {} } = {}) =>
  platform.call("POST", `/iam/v2/groupInvites/${group}`, {
    token: token || (await platform.token()),
    body: { roleUid: await platform.role("viewer"), ttl: "3600s", mailTo, ...fields },
  });
const recoveryOf = async (identity: string, mailTo?: string, token = "") =>
  platform.call("POST", "/session/recovery-links", {
    token: token || (await platform.token()),
    body: { identity, ...(mailTo !== undefined && { mailTo }) },
  });
const linkIn = (text: string): string =>
  (text.split("\n").find((line) => line.startsWith("http")) ?? "").split("#")[1] ?? "";

test("no address puts a header, a recipient or a command into a mail", async () => {
  const hostile = [
    "a@example.com\r\nBcc: all@example.com",
    "a@example.com\nX: y",
    "a@example.com,b@example.com",
    "a@example.com;b@example.com",
    "<a@example.com>",
    '"a b"@example.com',
    "a@example.com> RCPT TO:<b@example.com",
    "a@[127.0.0.1]",
    "a@example.com\u0000",
    "\u0430@example.com",
    "a@exampl\u0435.com",
    "a@b@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.com`,
    "@example.com",
    "a@",
  ];
  const { identity } = await newAccount(platform, "plain@example.com");
  for (const address of hostile) {
    const answer = await inviteTo(address);
    assert.deepEqual([answer.status, blamed(answer)], [400, ["mailTo"]], JSON.stringify(address));
    const recovery = await recoveryOf(identity, address);
    assert.equal(recovery.status, 400, JSON.stringify(address));
  }
  assert.deepEqual(mail.asked, []);
});

test("names that people chose are words in the mail: no address of a site, no markup, no further lines", async () => {
  const evil = "Bank\r\nSubject: you won\r\n\r\n<a href=https://evil.example/>https://evil.example/?x=1 \u202e\u0007";
  const inviter = await platform.identity(platform.organization, "owner");
  await platform.transact(async (tx) => {
    await tx.updateTable("identities").set({ name: evil, email: "" }).where("uid", "=", inviter).execute();
  });
  const token = await platform.token(inviter);
  const answer = await inviteTo("words@example.com", { token });
  assert.equal(answer.status, 200, answer.text);
  const { headers, text } = await mail.mailTo("words@example.com");
  assert.equal(headers.get("subject"), "Invitation to acme");
  assert.equal([...headers.keys()].includes("bcc"), false);
  assert.deepEqual(
    text
      .split("\n")
      .filter((line) => line.includes("//"))
      .map((line) => line.replace(/#.*/, "")),
    [
      `Bank Subject you won a href https evil.example https evil.exampl invites you to acme on ${platform.url}.`,
      `${platform.url}/invite`,
    ],
  );
  for (const sign of ["<", ">", "\u202e", "\u0007", "\r"]) assert.equal(text.includes(sign), false);
});

test("an address is not flooded, by one inviter, by several, or by taking invites back", async () => {
  const group = (await platform.ok("POST", "/iam/v2/groups", { name: "flood" })).uid;
  const tokens = await Promise.all(
    Array.from({ length: 2 }, async () => platform.token(await platform.identity(group, "owner"))),
  );
  const statuses: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    const answer = await inviteTo(n % 2 === 0 ? "Victim@example.com" : "victim@EXAMPLE.com", {
      group,
      token: tokens[n % 2] ?? "",
    });
    statuses.push(answer.status);
    if (answer.status === 200) await platform.ok("DELETE", `/iam/v2/groupInvites/${answer.body.uid}`);
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
  // A link that is passed on by hand needs no mail, and other people are still invited.
  assert.ok(await inviteCode(platform, group));
  assert.equal((await inviteTo("other@example.com", { group, token: tokens[0] ?? "" })).status, 200);
});

test("one person asks for fifty mails a day, and all of an organization for two hundred", async () => {
  const group = (await platform.ok("POST", "/iam/v2/groups", { name: "many" })).uid;
  const people = await Promise.all(Array.from({ length: 5 }, () => platform.identity(group, "owner")));
  const [first = ""] = people;
  const nowMs = platform.clock.nowMs();
  const earlier = (sender: string, n: number) => ({
    uid: `${sender.slice(-16)}-${n}`,
    purpose: "invite",
    subject: "gone",
    organization: group,
    sender,
    address: `p${n}@example.com`,
    address_key: `p${n}@example.com`,
    content: "",
    state: 2,
    reason: "",
    attempts: 1,
    holder: "",
    hold_until: 0,
    create_time: nowMs - 60_000,
    expire_time: nowMs,
    end_time: nowMs,
  });
  await platform.transact(async (tx) => {
    const mails = Array.from({ length: 49 }, (_, n) => earlier(first, n));
    await tx.insertInto("mails").values(mails).execute();
  });
  const ask = async (identity: string, name: string) =>
    (await inviteTo(`${name}@example.com`, { group, token: await platform.token(identity) })).status;
  assert.deepEqual([await ask(first, "fiftieth"), await ask(first, "next")], [200, 429]);
  const [, second = "", third = ""] = people;
  assert.equal(await ask(second, "by-another"), 200);
  await platform.transact(async (tx) => {
    const mails = Array.from({ length: 149 }, (_, n) => earlier(third, n));
    await tx.insertInto("mails").values(mails).execute();
  });
  assert.equal(await ask(people[3] ?? "", "too-many"), 429);
  platform.clock.offsetMs += 2 * 86_400_000;
  assert.equal(await ask(people[3] ?? "", "the-day-after"), 200);
});

test("whoever may not invite or change people has no mail sent, and learns nothing of who is there", async () => {
  const { identity, browser } = await newAccount(platform, "here@example.com");
  const token = await browser.token();
  assert.equal((await inviteTo("eve@example.com", { token })).status, 403);
  const known = await recoveryOf(identity, "here@example.com", token);
  const guessed = await recoveryOf(`${"0".repeat(40)}`, "here@example.com", token);
  const strip = ({ status, text }: { status: number; text: string }, uid: string) => [
    status,
    text.replaceAll(uid, "<uid>").replaceAll(/[0-9a-f-]{36}/g, "<request>"),
  ];
  assert.deepEqual(strip(known, identity), strip(guessed, "0".repeat(40)));
  // An owner of another organization neither.
  const other = (await platform.ok("POST", "/iam/v2/groups", { name: "elsewhere" })).uid;
  const owner = await platform.token(await platform.identity(other, "owner"));
  assert.deepEqual(strip(await recoveryOf(identity, "here@example.com", owner), identity), strip(known, identity));
  // Mails that others asked for may still be on their way: what counts is whether these two were queued or sent.
  const addresses = ["eve@example.com", "here@example.com"];
  const queued = await platform.reader
    .selectFrom("mails")
    .select("address")
    .where("address", "in", addresses)
    .execute();
  assert.deepEqual(queued, []);
  assert.deepEqual(
    addresses.filter((address) => mail.asked.includes(address)),
    [],
  );
});

test("the link of a mail that somebody else read works once, and the one who comes second sees that", async () => {
  const answer = await inviteTo("stolen@example.com");
  assert.equal(answer.status, 200, answer.text);
  const invite = linkIn((await mail.mailTo("stolen@example.com")).text);
  const [thief, owner] = [openAccountBrowser(platform), openAccountBrowser(platform)];
  const tries = await Promise.all(
    [thief, owner].map((browser, n) =>
      browser.post("/session/account/password", { invite, name: `first-${n}`, password: PASSWORD }),
    ),
  );
  assert.deepEqual(tries.map(({ status }) => status).toSorted(), [200, 404]);
  const late = tries.find(({ status }) => status === 404);
  assert.match(late?.body.message ?? "", /was used already/);
  const again = await platform.call("POST", "/iam/v2/groupInvites:accept", {
    token: await platform.token(await platform.identity(platform.organization)),
    body: { code: invite },
  });
  assert.equal(again.status, 400);
});

test("neither an invite's nor a recovery's secret is in an answer, an event, the audit log or the database", async () => {
  const made = await inviteTo("secret@example.com");
  const { identity } = await newAccount(platform, "hidden@example.com");
  const recovery = await recoveryOf(identity, "hidden@example.com");
  assert.equal(recovery.status, 200, recovery.text);
  const secrets = [
    linkIn((await mail.mailTo("secret@example.com")).text),
    linkIn((await mail.mailTo("hidden@example.com")).text),
  ];
  for (const secret of secrets) assert.match(secret, /^[\w-]{43}$/);
  const seen = [
    made.text,
    recovery.text,
    JSON.stringify(await platform.ok("GET", "/iam/v2/auditEntries?pageSize=200")),
    JSON.stringify(await platform.reader.selectFrom("mails").selectAll().execute()),
    JSON.stringify(await platform.reader.selectFrom("event_outbox").selectAll().execute()),
    JSON.stringify(await platform.reader.selectFrom("events").selectAll().execute()),
    JSON.stringify(await platform.reader.selectFrom("recovery_links").selectAll().execute()),
  ];
  for (const text of seen) for (const secret of secrets) assert.equal(text.includes(secret), false);
});

test("a recovery link ends with its use, that of another one, and the rights of who made it", async () => {
  const { identity } = await newAccount(platform, "lost@example.com", { role: "viewer" });
  const maker = await platform.identity(platform.organization);
  const ownerRole = await platform.role("owner");
  const binding = await platform.bind(platform.organization, maker, ownerRole);
  // What the maker keeps suffices for all that the person holds, but not for recovering people.
  await platform.bind(platform.organization, maker, await platform.role("viewer"));
  const secretBy = async (): Promise<string> => {
    const { body, status } = await recoveryOf(identity, undefined, await platform.token(maker));
    assert.equal(status, 200);
    return String(body["url"]).split("#")[1] ?? "";
  };
  const [used, ended] = [await secretBy(), await secretBy()];
  const use = (recovery: string) =>
    openAccountBrowser(platform).post("/session/account/password", { recovery, password: `${PASSWORD} anew` });
  assert.equal((await use(used)).status, 200);
  assert.equal((await use(used)).status, 404);
  assert.equal((await use(ended)).status, 404, "the use of one ends the others");
  const later = await secretBy();
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  assert.equal((await use(later)).status, 404);
  const stays = await openAccountBrowser(platform).post("/session/password", {
    organization: "acme",
    name: "lost@example.com",
    password: `${PASSWORD} anew`,
  });
  assert.equal(stays.status, 200, stays.text);
});

test("a link of a maker who is gone recovers nobody, not even a person without any role", async () => {
  const { identity } = await newAccount(platform, "bare@example.com", { role: "viewer" });
  const maker = await platform.identity(platform.organization, "owner");
  const { body } = await recoveryOf(identity, undefined, await platform.token(maker));
  const bindings = await rows(platform.ok("GET", `/iam/v2/roleBindings?identity=${identity}`), "roleBindings");
  for (const { uid } of bindings) await platform.ok("DELETE", `/iam/v2/roleBindings/${uid}`);
  await platform.ok("DELETE", `/iam/v2/identities/${maker}`);
  const recovery = String(body["url"]).split("#")[1] ?? "";
  const taken = await openAccountBrowser(platform).post("/session/account/password", { recovery, password: PASSWORD });
  assert.equal(taken.status, 404, taken.text);
});

test("a link in a mail leads to this server, whatever host a request named", async () => {
  const { identity } = await newAccount(platform, "poisoned@example.com");
  const answer = await platform.call("POST", "/session/recovery-links", {
    token: await platform.token(),
    body: { identity, mailTo: "poisoned@example.com" },
    headers: { host: "evil.example" },
  });
  assert.equal(answer.status, 200, answer.text);
  const { text } = await mail.mailTo("poisoned@example.com");
  assert.doesNotMatch(text, /evil\.example/);
  assert.ok(text.includes(`\n${platform.url}/sign-in/recover#`));
});

test("a person who is removed gets no recovery mail any more", async () => {
  mail.answerRecipient = (address) => (address === "removed@example.com" ? { code: 451, text: "later" } : undefined);
  const { identity } = await newAccount(platform, "removed@example.com");
  assert.equal((await recoveryOf(identity, "removed@example.com")).status, 200);
  await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
  const { reader } = platform;
  const row = await reader.selectFrom("mails").selectAll().where("subject", "=", identity).executeTakeFirstOrThrow();
  assert.deepEqual([row.state, row.reason, row.content], [3, "it was taken back before", ""]);
});
