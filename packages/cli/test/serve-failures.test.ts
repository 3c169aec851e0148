import assert from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeReadOnly } from "../../server/test/support/small-disk.ts";
import { moorage, program, temporaryFolder } from "./commands.ts";

// What an operator gets who starts the server with something wrong: one line that names it, and what to do.

test("a misspelled variable ends the start with the name that is near, and never with its value", async (t) => {
  const cwd = temporaryFolder(t);
  const env = { MOORAGE_SECRET_KEYS: "c2VjcmV0" };
  for (const args of [["serve", "--port", "0"], ["gc"], ["fsck"]]) {
    const { code, stdout, stderr } = await moorage(args, { cwd, env });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(stderr, "moorage: MOORAGE_SECRET_KEYS: there is no such setting; did you mean MOORAGE_SECRET_KEY?\n");
  }
});

test("a data folder that cannot be used is named, with why", async (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, "file"), "");
  const serve = (dataDir: string) => program(["serve", "--port", "0", "--data-dir", dataDir], { cwd });
  const isFile = await serve("file");
  assert.deepEqual([isFile.code, isFile.stdout], [1, ""]);
  assert.match(
    isFile.stderr,
    /^moorage: MOORAGE_DATA_DIR: cannot use \/\S+\/file: there is a file of that name[^\n]*\n$/,
  );
  const below = await serve("file/data");
  assert.match(below.stderr, /cannot use \/\S+\/file\/data: a part of the path is a file[^\n]*\n$/);
  mkdirSync(join(cwd, "locked"));
  const makeWritable = makeReadOnly(t, join(cwd, "locked"));
  if (makeWritable === undefined) return;
  const locked = await serve("locked");
  makeWritable();
  assert.match(locked.stderr, /cannot use \/\S+\/locked: its file system is read-only[^\n]*\n$/);
});

test("a database that cannot be reached is named by host, port, database, user and cause, by every command", async (t) => {
  const cwd = temporaryFolder(t);
  const unused = createServer().listen(0, "127.0.0.1");
  await once(unused, "listening");
  const { port } = unused.address() as { port: number };
  unused.close();
  await once(unused, "close");
  const env = {
    MOORAGE_DATABASE_URL: `postgres://ada:geheim@127.0.0.1:${port}/moorage`,
    // How long a start waits for it.
    MOORAGE_DATABASE_TIMEOUT: "300ms",
  };
  const line =
    `moorage: MOORAGE_DATABASE_URL: the database cannot be reached: 127.0.0.1:${port} (database moorage, user ada): ` +
    `connect ECONNREFUSED 127.0.0.1:${port} (nothing listens at this port)\n`;
  for (const args of [["serve", "--port", "0"], ["migrate", "--check"], ["gc"]]) {
    const { code, stderr } = await moorage(args, { cwd, env });
    assert.equal(stderr, line, args.join(" "));
    assert.equal(code, 1);
  }
  const unknown = await moorage(["migrate", "--check"], {
    cwd,
    env: { ...env, MOORAGE_DATABASE_URL: "postgres://ada:geheim@db.invalid/moorage", MOORAGE_DATABASE_TLS: "disable" },
  });
  assert.match(unknown.stderr, /db\.invalid:5432 \(database moorage, user ada\): getaddrinfo \S+ db\.invalid/);
  assert.doesNotMatch(unknown.stderr, /geheim/);
});

test("a damaged database is named, with the line that restores it", async (t) => {
  const cwd = temporaryFolder(t);
  const checked = await moorage(["migrate", "--data-dir", "data"], { cwd });
  assert.equal(checked.code, 0, checked.stderr);
  const path = join(cwd, "data", "moorage.db");
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(statSync(path).size, 0x5a));
  closeSync(file);
  for (const args of [["serve", "--port", "0"], ["gc"]]) {
    const { code, stderr } = await moorage(args, { cwd });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^moorage: the database \S+\/moorage\.db is damaged: [^\n]*moorage restore BACKUP --data-dir \S+\n$/,
    );
  }
});
