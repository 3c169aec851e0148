import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ConfigError, loadConfig } from "../../../server/src/index.ts";
import { type SmtpSettings, smtpOf } from "../../src/mail/index.ts";
import { examineServer, MailError, sendMail } from "../../src/mail/smtp.ts";
import {
  MAIL_PASSWORD,
  type MailServer,
  mailTls,
  startMailServer,
  startSilentServer,
  USER,
} from "../../../server/test/support/mail-server.ts";

// How mails are handed to a mail server, over real sockets and TLS.
const PASSWORD = encodeURIComponent(MAIL_PASSWORD);
let folder: string;
let ca: string;
let plain: MailServer;
let upgrading: MailServer;
let secure: MailServer;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "moorage-smtp-"));
  const tls = mailTls(folder);
  ca = tls.ca;
  plain = await startMailServer();
  upgrading = await startMailServer({ ...tls.options, authOptional: false });
  secure = await startMailServer({ ...tls.options, authOptional: false, secure: true });
});
after(async () => {
  await Promise.all([plain?.close(), upgrading?.close(), secure?.close()]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

const settings = (env: Record<string, string>): SmtpSettings => {
  const smtp = smtpOf(loadConfig({ MOORAGE_SMTP_FROM: "registry@example.com", ...env }));
  assert.ok(smtp);
  return smtp;
};
const send = (env: Record<string, string>, address: string, { timeoutMs = 60_000 } = {}): Promise<void> =>
  sendMail(
    settings(env),
    { id: "0".repeat(32), address, text: { subject: "x", lines: ["y"] }, atMs: 0 },
    { timeoutMs, signal: new AbortController().signal },
  );
const rejected = async (sent: Promise<void>): Promise<MailError> => {
  const error = await sent.then(
    () => assert.fail("it was sent"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof MailError, String(error));
  return error;
};

test("STARTTLS is asked for, verified and signed in through", async () => {
  const MOORAGE_SMTP_URL = `smtp://${USER}:${PASSWORD}@localhost:${upgrading.port}`;
  await send({ MOORAGE_SMTP_URL, MOORAGE_SMTP_TLS: "verify-full", MOORAGE_SMTP_TLS_CA: ca }, "up@example.com");
  const { isSecure, user } = await upgrading.mailTo("up@example.com");
  assert.deepEqual([isSecure, user], [true, USER]);
});

test("a certificate of nobody is not taken, unless it was said that it is not verified", async () => {
  const MOORAGE_SMTP_URL = `smtps://${USER}:${PASSWORD}@127.0.0.1:${secure.port}`;
  const error = await rejected(send({ MOORAGE_SMTP_URL }, "unknown@example.com"));
  assert.equal(error.message, "no connection that can be trusted to the mail server");
  assert.match(error.detail, /self-signed/);
  assert.equal(secure.asked.length, 0);
  await send({ MOORAGE_SMTP_URL, MOORAGE_SMTP_TLS: "require" }, "required@example.com");
  assert.equal((await secure.mailTo("required@example.com")).isSecure, true);
});

test("where TLS is wanted, a mail server without it gets nothing", async () => {
  const MOORAGE_SMTP_URL = `smtp://127.0.0.1:${plain.port}`;
  const error = await rejected(send({ MOORAGE_SMTP_URL, MOORAGE_SMTP_TLS: "verify-full" }, "stripped@example.com"));
  assert.equal(error.message, "no connection that can be trusted to the mail server");
  assert.equal(plain.asked.length, 0);
  await send({ MOORAGE_SMTP_URL }, "loopback@example.com");
  assert.equal((await plain.mailTo("loopback@example.com")).isSecure, false);
});

test("a wrong password is no fault of the mail: it is sent once the settings are right", async () => {
  const MOORAGE_SMTP_URL = `smtps://${USER}:wrong@127.0.0.1:${secure.port}`;
  const error = await rejected(send({ MOORAGE_SMTP_URL, MOORAGE_SMTP_TLS_CA: ca }, "wrong@example.com"));
  assert.deepEqual([error.message, error.isFinal], ["the mail server does not accept this server's sign-in", false]);
});

test("a mail server that says nothing, and one that never ends what it says, are left", async (t) => {
  const silent = await startSilentServer();
  t.after(() => silent.close());
  const quiet = await rejected(
    send({ MOORAGE_SMTP_URL: `smtp://127.0.0.1:${silent.port}` }, "a@example.com", { timeoutMs: 100 }),
  );
  assert.deepEqual([quiet.message, quiet.isFinal], ["the mail server did not answer in time", false]);
  const timers = new Set<NodeJS.Timeout>();
  const talker = createServer((socket) => {
    socket.on("error", () => {});
    // Each line resets what counts only silence.
    timers.add(setInterval(() => socket.write("220-and\r\n"), 10));
  });
  await new Promise<void>((resolve) => void talker.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const timer of timers) clearInterval(timer);
    talker.close();
  });
  const address = talker.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const endless = await rejected(
    send({ MOORAGE_SMTP_URL: `smtp://127.0.0.1:${port}` }, "a@example.com", { timeoutMs: 500 }),
  );
  assert.deepEqual([endless.message, endless.isFinal], ["the mail server did not answer in time", false]);
});

test("a mail server that closes, and one that is not there, are tried again", async () => {
  const closing = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => void closing.listen(0, "127.0.0.1", resolve));
  const address = closing.address();
  const MOORAGE_SMTP_URL = `smtp://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  assert.equal((await rejected(send({ MOORAGE_SMTP_URL }, "a@example.com"))).isFinal, false);
  await new Promise((resolve) => void closing.close(resolve));
  const gone = await rejected(send({ MOORAGE_SMTP_URL }, "a@example.com"));
  assert.deepEqual([gone.message, gone.isFinal], ["the mail server could not be reached", false]);
});

test("an examination signs in and sends nothing", async () => {
  const MOORAGE_SMTP_URL = `smtps://${USER}:${PASSWORD}@localhost:${secure.port}`;
  const before = secure.asked.length;
  await examineServer(settings({ MOORAGE_SMTP_URL, MOORAGE_SMTP_TLS_CA: ca }), 60_000);
  assert.equal(secure.asked.length, before);
});

test("settings that do not go together are said at the start, and no message has the password", () => {
  const file = join(folder, "password");
  writeFileSync(file, "from-a-file\n");
  const url = "smtps://u:hidden-word@mail.example.com";
  const cases: [Record<string, string>, RegExp][] = [
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_FROM: "" }, /^MOORAGE_SMTP_FROM: must be set/],
    [{ MOORAGE_SMTP_URL: "http://u:hidden-word@mail.example.com" }, /^MOORAGE_SMTP_URL: must be of the form/],
    [{ MOORAGE_SMTP_URL: "smtps://u:100%hidden-word@mail.example.com" }, /^MOORAGE_SMTP_URL: .*percent-encoded/],
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_PASSWORD_FILE: file }, /^MOORAGE_SMTP_PASSWORD_FILE: /],
    [{ MOORAGE_SMTP_URL: "smtps://u@mail.example.com" }, /^MOORAGE_SMTP_URL: a user needs a password/],
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_TLS: "disable" }, /^MOORAGE_SMTP_TLS: cannot be disable/],
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_TLS_CA: join(folder, "nothing") }, /^MOORAGE_SMTP_TLS_CA: cannot read/],
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_FROM: "a@b, c@d" }, /^MOORAGE_SMTP_FROM: must be an e-mail address/],
    [{ MOORAGE_SMTP_URL: url, MOORAGE_SMTP_FROM: "x\r\nBcc: y <a@b.example>" }, /^MOORAGE_SMTP_FROM: /],
  ];
  for (const [env, expected] of cases)
    assert.throws(
      () => settings(env),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hidden-word/);
        return true;
      },
      JSON.stringify(env),
    );
  const read = settings({ MOORAGE_SMTP_URL: "smtp://u@mail.example.com", MOORAGE_SMTP_PASSWORD_FILE: file });
  assert.deepEqual(
    [read.login, read.port, read.tls, read.verifies],
    [{ user: "u", password: "from-a-file" }, 587, "starttls", true],
  );
});
