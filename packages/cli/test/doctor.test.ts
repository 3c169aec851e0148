import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, closeSync, openSync, statSync, writeSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { selfSigned } from "../../server/test/support/certificate.ts";
import { MAIL_PASSWORD, mailTls, startMailServer, USER } from "../../server/test/support/mail-server.ts";
import { moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";
import { doctor, type Found } from "./doctor.ts";

test("beside a running server all is checked; without one what needs it is not checked, and says so", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await serveHere(t, cwd);
  const { port } = new URL(server.url);
  const beside = await doctor(["--port", port], { cwd });
  assert.equal(beside.code, 0, beside.stdout);
  for (const name of [
    "settings",
    "data folder",
    "database",
    "database pages",
    "server",
    "base URL",
    "clock",
    "version",
  ])
    assert.equal(beside.states(name), "ok", `${name}: ${beside.stdout}`);
  assert.match(beside.of("base URL")[0]?.message ?? "", /comes to this server$/);
  assert.equal(beside.states("feeds"), "warning", "there is none");

  const misspelled = await doctor(["--port", port], { cwd, env: { MOORAGE_BASE_URI: "https://geheim.example" } });
  assert.equal(misspelled.code, 1);
  assert.match(misspelled.of("settings")[0]?.message ?? "", /^MOORAGE_BASE_URI: .*did you mean MOORAGE_BASE_URL\?$/);
  assert.equal(misspelled.states("version"), "ok", "the rest is checked all the same");
  assert.doesNotMatch(misspelled.stdout, /geheim/);

  // A base URL that leads to something else than this server.
  const elsewhere = await doctor(["--port", port, "--base-url", "http://127.0.0.1:1"], { cwd });
  assert.equal(elsewhere.code, 1);
  assert.equal(elsewhere.states("base URL"), "failed");
  const other = await doctor(["--port", port, "--base-url", `http://localhost:${port}`], { cwd });
  assert.match(other.of("base URL")[0]?.message ?? "", new RegExp(`the server there is ${server.url}`));

  // Whoever runs it without the server's settings does not hear that no server runs.
  const unset = await doctor(["--port", "1"], { cwd });
  assert.equal(unset.states("server"), "not_checked");
  assert.ok(unset.of("server")[0]?.message.endsWith(`was last started as ${server.url}`), unset.stdout);

  const remote = await doctor(["--url", server.url], { cwd });
  assert.equal(remote.code, 8);
  assert.equal(remote.states("version"), "ok");
  for (const name of ["settings", "database", "disk"]) assert.equal(remote.states(name), "not_checked", name);

  await server.close();
  const alone = await doctor(["--port", port], { cwd });
  assert.equal(alone.code, 8, "nothing failed, and not all is known");
  assert.match(alone.of("server")[0]?.message ?? "", /none answers at .*ECONNREFUSED/);
  for (const name of ["feeds", "webhooks", "providers", "backlogs"])
    assert.equal(alone.states(name), "not_checked", name);

  const text = await moorage(["doctor", "--port", port], { cwd });
  assert.match(text.stdout, /^NOT CHECKED {2}server: none answers/m);
  assert.match(text.stdout, /\d+ ok, \d+ warning, 0 failed, \d+ not checked\n$/);

  // What an operator gets for a damaged database.
  chmodSync(join(cwd, "data"), 0o755);
  const path = join(cwd, "data", "moorage.db");
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(statSync(path).size, 0x5a));
  closeSync(file);
  const damaged = await doctor(["--port", port], { cwd });
  assert.equal(damaged.code, 1);
  assert.match(damaged.of("database")[0]?.message ?? "", /moorage\.db is damaged$/);
  assert.match(damaged.of("database")[0]?.fix ?? "", /moorage restore BACKUP --data-dir/);
  assert.equal(damaged.states("data folder"), "warning", "others may read it");
});

test("a wrong database URL, settings that contradict, and a certificate that nobody trusts", async (t) => {
  const cwd = temporaryFolder(t);
  const url = "postgres://ada:geheim@127.0.0.1:1/moorage?sslmode=require";
  const wrong = await doctor(["--port", "1"], { cwd, env: { MOORAGE_DATABASE_URL: url, MOORAGE_BLOBS_REDIRECT: "1" } });
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.of("database")[0]?.message ?? "",
    /the database cannot be reached: 127\.0\.0\.1:1 \(database moorage, user ada\): .*ECONNREFUSED/,
  );
  assert.doesNotMatch(wrong.stdout, /geheim/);
  assert.match(wrong.of("settings")[0]?.message ?? "", /MOORAGE_BLOBS_REDIRECT is set, but not MOORAGE_BLOBS_URL/);
  assert.match(wrong.of("settings")[1]?.message ?? "", /^sslmode in MOORAGE_DATABASE_URL does nothing/);

  const invalid = await doctor(["--port", "http"], { cwd });
  assert.equal(invalid.code, 1);
  assert.deepEqual(
    invalid.checks.map(({ state }) => state),
    ["failed", "not_checked"],
  );

  const tls = createTlsServer(selfSigned(), (_, response) => void response.end("{}")).listen(0, "127.0.0.1");
  t.after(() => tls.close());
  await once(tls, "listening");
  const { port } = tls.address() as { port: number };
  const untrusted = await doctor(["--url", `https://localhost:${port}`], { cwd });
  assert.equal(untrusted.code, 1);
  assert.equal(untrusted.states("TLS"), "failed");
  assert.match(untrusted.of("TLS")[0]?.message ?? "", /^localhost:\d+: .*self-signed certificate/);
  assert.equal(untrusted.states("base URL"), "failed");
});

test("the mail server is asked whether it takes this server's mail, and each fault says what to do", async (t) => {
  const cwd = temporaryFolder(t);
  const { options, ca } = mailTls(cwd);
  const server = await startMailServer({ ...options, secure: true, authOptional: false });
  t.after(() => server.close());
  const password = encodeURIComponent(MAIL_PASSWORD);
  const mail = async (env: Record<string, string>): Promise<Found | undefined> => {
    const { of, stdout } = await doctor([], {
      cwd,
      env: { MOORAGE_SMTP_FROM: "registry@example.com", ...env },
    });
    for (const secret of [MAIL_PASSWORD, password, "wrong-word"]) assert.equal(stdout.includes(secret), false);
    return of("mail")[0];
  };
  const good = { MOORAGE_SMTP_URL: `smtps://${USER}:${password}@127.0.0.1:${server.port}`, MOORAGE_SMTP_TLS_CA: ca };
  assert.deepEqual(await mail(good), {
    name: "mail",
    state: "ok",
    message: `127.0.0.1:${server.port} answers over TLS, with the sign-in; no mail was sent`,
  });
  const faults: [Record<string, string>, RegExp, RegExp][] = [
    [{ ...good, MOORAGE_SMTP_TLS_CA: "" }, /can be trusted .*self-signed/, /MOORAGE_SMTP_TLS_CA/],
    [
      { ...good, MOORAGE_SMTP_URL: `smtps://${USER}:wrong-word@127.0.0.1:${server.port}` },
      /does not accept this server's sign-in/,
      /user and password/,
    ],
    [{ ...good, MOORAGE_SMTP_URL: "smtps://127.0.0.1:1" }, /could not be reached .*ECONNREFUSED/, /host and port/],
    [{ ...good, MOORAGE_SMTP_FROM: "" }, /^MOORAGE_SMTP_FROM: must be set/, /correct the setting/],
  ];
  for (const [env, message, fix] of faults) {
    const found = await mail(env);
    assert.equal(found?.state, "failed");
    assert.match(found.message, message);
    assert.match(found.fix ?? "", fix);
  }
  assert.equal(server.asked.length, 0);
});
